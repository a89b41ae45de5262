// Package usertable has the tables of the people who use the dashboard: users, their
// sign-ins, their passkeys, and the audit list. The store embeds it.
package usertable

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/sqlerror"
	"github.com/recado-project/recado/internal/store/table"
)

const (
	userColumns    = "id, account_id, name, role, password, link_hash, link_until, epoch, created_at, signed_in_at"
	passkeyColumns = "id, user_id, name, credential, created_at, last_used_at" //nolint:gosec // names, not values
	auditColumns   = "id, account_id, user_id, user_name, action, subject, detail, address, created_at"
)

// Database runs the statements of these tables.
type Database interface {
	// Write runs fn in one write transaction, which may run again. An error of fn is
	// returned as it is, and nothing that fn did remains.
	Write(ctx context.Context, fn func(ctx context.Context, q table.Querier) error) error
	// Exec runs one statement and returns how many rows it changed.
	Exec(ctx context.Context, query string, args ...any) (int64, error)
	// Reader finds a few rows, Scanner may read many.
	Reader() table.Querier
	Scanner() table.Querier
	// ForUpdate ends a SELECT whose row must not change before the transaction ends.
	ForUpdate() string
}

// Tables are the tables in one database. They are safe for concurrent use.
type Tables struct{ db Database }

// New makes the tables' access to a database that has them.
func New(db Database) *Tables { return &Tables{db: db} }

// codeExists is the code of the error for a name or id that is taken. No operation of the
// API is refused with it.
const codeExists = "ALREADY_EXISTS"

// codeLastOwner is the code of the error for a change that would leave an account without
// an owner.
const codeLastOwner = "LAST_OWNER"

// nameKey is a user's name as it is looked for. Names are ASCII.
func nameKey(name string) string { return strings.ToLower(name) }

// CreateUser adds a user. If the name or id is taken, it returns a gateway.Conflict.
func (t *Tables) CreateUser(ctx context.Context, user gateway.User) error {
	_, err := t.db.Exec(ctx, `INSERT INTO users (id, account_id, name, name_key, role, password, link_hash, link_until, epoch,
		created_at, signed_in_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`,
		user.ID, user.AccountID, user.Name, nameKey(user.Name), string(user.Role), user.Password, table.NotNull(user.LinkHash),
		table.Millis(user.LinkUntil), user.Epoch, table.Millis(user.CreatedAt), table.Millis(user.SignedInAt))
	if sqlerror.IsTaken(err) {
		return gateway.Errorf(gateway.Conflict, codeExists, "there is already a user with this name")
	}
	if err != nil {
		return fmt.Errorf("store: create user: %w", err)
	}
	return nil
}

// FindUser returns the user with the id and whether there is one.
func (t *Tables) FindUser(ctx context.Context, id string) (gateway.User, bool, error) {
	return t.findUser(ctx, "id = $1", id)
}

// FindUserByName returns the user with the name, in upper or lower case, and whether there
// is one.
func (t *Tables) FindUserByName(ctx context.Context, name string) (gateway.User, bool, error) {
	return t.findUser(ctx, "name_key = $1", nameKey(name))
}

// FindUserByLink returns the user whose link has the hash and whether there is one. The
// link may have ended.
func (t *Tables) FindUserByLink(ctx context.Context, hash []byte) (gateway.User, bool, error) {
	if len(hash) == 0 {
		return gateway.User{}, false, nil // it is what users without a link have
	}
	return t.findUser(ctx, "link_hash = $1", hash)
}

func (t *Tables) findUser(ctx context.Context, where string, arg any) (gateway.User, bool, error) {
	user, found, err := table.Find(ctx, t.db.Reader(), scanUser, "SELECT "+userColumns+" FROM users WHERE "+where, arg)
	if err != nil {
		return gateway.User{}, false, fmt.Errorf("store: find user: %w", err)
	}
	return user, found, nil
}

// AllUsers returns the users of all accounts, in no order.
func (t *Tables) AllUsers(ctx context.Context) ([]gateway.User, error) {
	users, err := table.Collect(ctx, t.db.Reader(), scanUser, "SELECT "+userColumns+" FROM users")
	if err != nil {
		return nil, fmt.Errorf("store: list all users: %w", err)
	}
	return users, nil
}

// ListUsers returns a page of the account's users, oldest first.
func (t *Tables) ListUsers(ctx context.Context, accountID string, request gateway.PageRequest) (gateway.Page[gateway.User], error) {
	page, err := table.List(ctx, t.db.Scanner(), scanUser, request, userColumns, "FROM users WHERE account_id = $1", accountID)
	if err != nil {
		return gateway.Page[gateway.User]{}, fmt.Errorf("store: list users: %w", err)
	}
	return page, nil
}

// SetUserLink gives the user another link to set a password, which works until that
// time. It returns a gateway.NotFound if there is no such user.
func (t *Tables) SetUserLink(ctx context.Context, id string, hash []byte, until time.Time) error {
	return t.changeUser(ctx, "set link of user",
		"UPDATE users SET link_hash = $1, link_until = $2 WHERE id = $3", table.NotNull(hash), table.Millis(until), id)
}

// TouchUser stores when the user signed in. It returns a gateway.NotFound if there is no
// such user.
func (t *Tables) TouchUser(ctx context.Context, id string, at time.Time) error {
	return t.changeUser(ctx, "touch user", "UPDATE users SET signed_in_at = $1 WHERE id = $2", table.Millis(at), id)
}

func (t *Tables) changeUser(ctx context.Context, what, query string, args ...any) error {
	changed, err := t.db.Exec(ctx, query, args...)
	if err != nil {
		return fmt.Errorf("store: %s: %w", what, err)
	}
	if changed == 0 {
		return userNotFound()
	}
	return nil
}

// UseUserLink sets the password of the user whose link has the hash, if the link has not
// ended at that time. It removes the link and ends all sign-ins of the user. Else it
// reports false: the link was used, replaced, or has ended.
func (t *Tables) UseUserLink(ctx context.Context, hash []byte, at time.Time, password string) (bool, error) {
	used := false
	err := t.db.Write(ctx, func(ctx context.Context, q table.Querier) error {
		ids, err := table.Collect(ctx, q, table.ScanText, `UPDATE users SET password = $1, link_hash = $2, link_until = 0, epoch = epoch + 1
			WHERE link_hash = $3 AND link_hash <> $2 AND link_until > $4 RETURNING id`, password, []byte{}, table.NotNull(hash), table.Millis(at))
		if used = err == nil && len(ids) > 0; !used {
			return err
		}
		return deleteSignIns(ctx, q, ids[0])
	})
	if err != nil {
		return false, fmt.Errorf("store: use link of user: %w", err)
	}
	return used, nil
}

// SetUserPassword sets the password of the user, removes a link to set one, and ends all
// sign-ins of the user. It returns the new epoch, or a gateway.NotFound.
func (t *Tables) SetUserPassword(ctx context.Context, id, password string) (epoch int64, err error) {
	return t.endSignIns(ctx, id, "UPDATE users SET password = $2, link_hash = $3, link_until = 0, epoch = epoch + 1 WHERE id = $1 RETURNING epoch",
		password, []byte{})
}

// EndSignIns ends all sign-ins of the user. It returns the new epoch, or a
// gateway.NotFound.
func (t *Tables) EndSignIns(ctx context.Context, id string) (epoch int64, err error) {
	return t.endSignIns(ctx, id, "UPDATE users SET epoch = epoch + 1 WHERE id = $1 RETURNING epoch")
}

func (t *Tables) endSignIns(ctx context.Context, id, query string, args ...any) (epoch int64, err error) {
	var found bool
	err = t.db.Write(ctx, func(ctx context.Context, q table.Querier) error {
		epoch, found, err = table.Find(ctx, q, table.ScanNumber, query, append([]any{id}, args...)...)
		if err != nil || !found {
			return err
		}
		return deleteSignIns(ctx, q, id)
	})
	if err != nil {
		return 0, fmt.Errorf("store: end sign-ins of user: %w", err)
	}
	if !found {
		return 0, userNotFound()
	}
	return epoch, nil
}

// SetUserRole changes the role of a user of the account. It returns a gateway.NotFound if the account has no such user, and a gateway.Conflict if
// no owner with a password would be left.
func (t *Tables) SetUserRole(ctx context.Context, accountID, id string, role gateway.Role) error {
	return t.withOwners(ctx, "set role of user", accountID, id, role == gateway.RoleOwner, func(ctx context.Context, q table.Querier) error {
		_, err := q.ExecContext(ctx, "UPDATE users SET role = $1 WHERE id = $2", string(role), id)
		return err
	})
}

// DeleteUser removes a user of the account with sign-ins and passkeys. It returns a
// gateway.NotFound if the account has no such user, and a gateway.Conflict if no owner with
// a password would be left.
func (t *Tables) DeleteUser(ctx context.Context, accountID, id string) error {
	return t.withOwners(ctx, "delete user", accountID, id, false, func(ctx context.Context, q table.Querier) error {
		if err := deleteSignIns(ctx, q, id); err != nil {
			return err
		}
		_, err := q.ExecContext(ctx, "DELETE FROM users WHERE id = $1", id)
		return err
	})
}

// withOwners runs fn for a user of the account. Unless the user stays an owner, it makes
// sure that there is another one who can sign in, and that no other transaction takes that
// one away meanwhile.
func (t *Tables) withOwners(
	ctx context.Context, what, accountID, id string, stays bool, fn func(ctx context.Context, q table.Querier) error,
) error {
	var refused error
	err := t.db.Write(ctx, func(ctx context.Context, q table.Querier) error {
		// A refusal must not be an error of the transaction: that would make the writes
		// that share its commit run again.
		refused = nil
		users, err := table.Collect(ctx, q, scanUser,
			"SELECT "+userColumns+" FROM users WHERE account_id = $1 AND (role = $2 OR id = $3) ORDER BY id"+t.db.ForUpdate(),
			accountID, string(gateway.RoleOwner), id)
		if err != nil {
			return err
		}
		found, owner, others := false, false, 0
		for _, user := range users {
			switch {
			case user.ID == id:
				found, owner = true, user.Role == gateway.RoleOwner
			case user.Password != "":
				others++
			}
		}
		switch {
		case !found:
			refused = userNotFound()
			return nil
		case owner && !stays && others == 0:
			refused = gateway.Errorf(gateway.Conflict, codeLastOwner, "this is the last owner: make somebody else an owner first")
			return nil
		}
		return fn(ctx, q)
	})
	if err != nil {
		return fmt.Errorf("store: %s: %w", what, err)
	}
	return refused
}

func deleteSignIns(ctx context.Context, q table.Querier, userID string) error {
	_, err := q.ExecContext(ctx, "DELETE FROM sign_ins WHERE user_id = $1", userID)
	return err
}

func userNotFound() error {
	return gateway.Errorf(gateway.NotFound, gateway.CodeNotFound, "there is no such user")
}

// CreateSignIn adds a sign-in.
func (t *Tables) CreateSignIn(ctx context.Context, signIn gateway.SignIn) error {
	if _, err := t.db.Exec(ctx, "INSERT INTO sign_ins (token_hash, user_id, data, expires_at) VALUES ($1, $2, $3, $4)",
		signIn.TokenHash, signIn.UserID, table.NotNull(signIn.Data), table.Millis(signIn.ExpiresAt)); err != nil {
		return fmt.Errorf("store: create sign-in: %w", err)
	}
	return nil
}

// UpdateSignIn stores a sign-in in place of the one with its token. It does nothing if that
// one was deleted meanwhile: who has signed out stays out.
func (t *Tables) UpdateSignIn(ctx context.Context, signIn gateway.SignIn) error {
	if _, err := t.db.Exec(ctx, "UPDATE sign_ins SET user_id = $1, data = $2, expires_at = $3 WHERE token_hash = $4",
		signIn.UserID, table.NotNull(signIn.Data), table.Millis(signIn.ExpiresAt), signIn.TokenHash); err != nil {
		return fmt.Errorf("store: update sign-in: %w", err)
	}
	return nil
}

// FindSignIn returns the sign-in with the token and whether there is one. It may have
// expired.
func (t *Tables) FindSignIn(ctx context.Context, tokenHash string) (gateway.SignIn, bool, error) {
	signIn, found, err := table.Find(ctx, t.db.Reader(), scanSignIn,
		"SELECT token_hash, user_id, data, expires_at FROM sign_ins WHERE token_hash = $1", tokenHash)
	if err != nil {
		return gateway.SignIn{}, false, fmt.Errorf("store: find sign-in: %w", err)
	}
	return signIn, found, nil
}

// DeleteSignIn removes the sign-in with the token, if there is one.
func (t *Tables) DeleteSignIn(ctx context.Context, tokenHash string) error {
	if _, err := t.db.Exec(ctx, "DELETE FROM sign_ins WHERE token_hash = $1", tokenHash); err != nil {
		return fmt.Errorf("store: delete sign-in: %w", err)
	}
	return nil
}

// DeleteExpiredSignIns removes the sign-ins that have expired at that time.
func (t *Tables) DeleteExpiredSignIns(ctx context.Context, at time.Time) error {
	if _, err := t.db.Exec(ctx, "DELETE FROM sign_ins WHERE expires_at <= $1", table.Millis(at)); err != nil {
		return fmt.Errorf("store: delete expired sign-ins: %w", err)
	}
	return nil
}

// CreatePasskey adds a passkey. If its id is taken, it returns a gateway.Conflict, and if
// its user is gone a gateway.NotFound.
func (t *Tables) CreatePasskey(ctx context.Context, passkey gateway.Passkey) error {
	_, err := t.db.Exec(ctx, "INSERT INTO passkeys ("+passkeyColumns+") VALUES ($1, $2, $3, $4, $5, $6)",
		passkey.ID, passkey.UserID, passkey.Name, passkey.Credential, table.Millis(passkey.CreatedAt), table.Millis(passkey.LastUsedAt))
	if sqlerror.IsTaken(err) {
		return gateway.Errorf(gateway.Conflict, codeExists, "this passkey is registered already")
	}
	if sqlerror.IsOrphan(err) {
		return userNotFound()
	}
	if err != nil {
		return fmt.Errorf("store: create passkey: %w", err)
	}
	return nil
}

// ListPasskeys returns the passkeys of the user, oldest first.
func (t *Tables) ListPasskeys(ctx context.Context, userID string) ([]gateway.Passkey, error) {
	passkeys, err := table.Collect(ctx, t.db.Reader(), scanPasskey,
		"SELECT "+passkeyColumns+" FROM passkeys WHERE user_id = $1 ORDER BY created_at, id", userID)
	if err != nil {
		return nil, fmt.Errorf("store: list passkeys: %w", err)
	}
	return passkeys, nil
}

// TouchPasskey stores when the user used the passkey, and what is needed to check it the
// next time.
func (t *Tables) TouchPasskey(ctx context.Context, userID string, id, credential []byte, at time.Time) error {
	if _, err := t.db.Exec(ctx, "UPDATE passkeys SET credential = $1, last_used_at = $2 WHERE user_id = $3 AND id = $4",
		credential, table.Millis(at), userID, id); err != nil {
		return fmt.Errorf("store: touch passkey: %w", err)
	}
	return nil
}

// DeletePasskey removes a passkey of the user. It returns a gateway.NotFound if the user
// has no such passkey.
func (t *Tables) DeletePasskey(ctx context.Context, userID string, id []byte) error {
	changed, err := t.db.Exec(ctx, "DELETE FROM passkeys WHERE user_id = $1 AND id = $2", userID, id)
	if err != nil {
		return fmt.Errorf("store: delete passkey: %w", err)
	}
	if changed == 0 {
		return gateway.Errorf(gateway.NotFound, gateway.CodeNotFound, "there is no such passkey")
	}
	return nil
}

// AddAudit adds an entry to the audit list of its account.
func (t *Tables) AddAudit(ctx context.Context, entry gateway.AuditEntry) error {
	if _, err := t.db.Exec(ctx, "INSERT INTO audit ("+auditColumns+") VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)",
		entry.ID, entry.AccountID, entry.UserID, entry.UserName, entry.Action, entry.Subject, entry.Detail, entry.Address,
		table.Millis(entry.At)); err != nil {
		return fmt.Errorf("store: add to audit: %w", err)
	}
	return nil
}

// ListAudit returns a page of the account's audit list, newest first.
func (t *Tables) ListAudit(ctx context.Context, accountID string, request gateway.PageRequest) (gateway.Page[gateway.AuditEntry], error) {
	var page gateway.Page[gateway.AuditEntry]
	var err error
	q := t.db.Scanner()
	page.Items, err = table.Collect(ctx, q, scanAudit, "SELECT "+auditColumns+
		" FROM audit WHERE account_id = $1 ORDER BY created_at DESC, id DESC LIMIT $2 + 0 OFFSET $3", accountID, request.Limit, request.Offset())
	if err == nil {
		err = q.QueryRowContext(ctx, "SELECT count(*) FROM audit WHERE account_id = $1", accountID).Scan(&page.Total)
	}
	if err != nil {
		return gateway.Page[gateway.AuditEntry]{}, fmt.Errorf("store: list audit: %w", err)
	}
	return page, nil
}

// TrimAudit removes from the audit lists the entries of before a time, and of each account
// all but its newest.
func (t *Tables) TrimAudit(ctx context.Context, before time.Time, newest int) error {
	if _, err := t.db.Exec(ctx, `DELETE FROM audit WHERE created_at < $1 OR id IN (
		SELECT id FROM (SELECT id, row_number() OVER (PARTITION BY account_id ORDER BY created_at DESC, id DESC) AS place FROM audit) AS placed
		WHERE place > $2)`, table.Millis(before), newest); err != nil {
		return fmt.Errorf("store: trim audit: %w", err)
	}
	return nil
}

func scanUser(row table.Scanner) (gateway.User, error) {
	var user gateway.User
	var role string
	var linkUntil, createdAt, signedInAt int64
	err := row.Scan(&user.ID, &user.AccountID, &user.Name, &role, &user.Password, &user.LinkHash, &linkUntil, &user.Epoch,
		&createdAt, &signedInAt)
	user.Role, user.LinkHash = gateway.Role(role), table.OrNil(user.LinkHash)
	user.LinkUntil, user.CreatedAt, user.SignedInAt = table.Time(linkUntil), table.Time(createdAt), table.Time(signedInAt)
	return user, err
}

func scanSignIn(row table.Scanner) (gateway.SignIn, error) {
	var signIn gateway.SignIn
	var expiresAt int64
	err := row.Scan(&signIn.TokenHash, &signIn.UserID, &signIn.Data, &expiresAt)
	signIn.ExpiresAt = table.Time(expiresAt)
	return signIn, err
}

func scanPasskey(row table.Scanner) (gateway.Passkey, error) {
	var passkey gateway.Passkey
	var createdAt, lastUsedAt int64
	err := row.Scan(&passkey.ID, &passkey.UserID, &passkey.Name, &passkey.Credential, &createdAt, &lastUsedAt)
	passkey.CreatedAt, passkey.LastUsedAt = table.Time(createdAt), table.Time(lastUsedAt)
	return passkey, err
}

func scanAudit(row table.Scanner) (gateway.AuditEntry, error) {
	var entry gateway.AuditEntry
	var at int64
	err := row.Scan(&entry.ID, &entry.AccountID, &entry.UserID, &entry.UserName, &entry.Action, &entry.Subject, &entry.Detail,
		&entry.Address, &at)
	entry.At = table.Time(at)
	return entry, err
}
