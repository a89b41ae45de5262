// Package usertable has the tables of the people who use the dashboard: users, their
// sign-ins, their passkeys, and the audit list.
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

//nolint:gochecknoglobals // tables that never change
var (
	userColumns = table.Of(
		table.Text("id", func(u *gateway.User) *string { return &u.ID }),
		table.Text("account_id", func(u *gateway.User) *string { return &u.AccountID }),
		table.Text("name", func(u *gateway.User) *string { return &u.Name }),
		table.Text("role", func(u *gateway.User) *gateway.Role { return &u.Role }),
		table.Text("password", func(u *gateway.User) *string { return &u.Password }),
		table.Bytes("link_hash", func(u *gateway.User) *[]byte { return &u.LinkHash }),
		table.Moment("link_until", func(u *gateway.User) *time.Time { return &u.LinkUntil }),
		table.Number("epoch", func(u *gateway.User) *int64 { return &u.Epoch }),
		table.Moment("created_at", func(u *gateway.User) *time.Time { return &u.CreatedAt }),
		table.Moment("signed_in_at", func(u *gateway.User) *time.Time { return &u.SignedInAt }),
	)

	signInColumns = table.Of(
		table.Text("token_hash", func(s *gateway.SignIn) *string { return &s.TokenHash }),
		table.Text("user_id", func(s *gateway.SignIn) *string { return &s.UserID }),
		table.Bytes("data", func(s *gateway.SignIn) *[]byte { return &s.Data }),
		table.Moment("expires_at", func(s *gateway.SignIn) *time.Time { return &s.ExpiresAt }),
	)

	passkeyColumns = table.Of(
		table.Bytes("id", func(p *gateway.Passkey) *[]byte { return &p.ID }),
		table.Text("user_id", func(p *gateway.Passkey) *string { return &p.UserID }),
		table.Text("name", func(p *gateway.Passkey) *string { return &p.Name }),
		table.Bytes("credential", func(p *gateway.Passkey) *[]byte { return &p.Credential }),
		table.Moment("created_at", func(p *gateway.Passkey) *time.Time { return &p.CreatedAt }),
		table.Moment("last_used_at", func(p *gateway.Passkey) *time.Time { return &p.LastUsedAt }),
	)

	auditColumns = table.Of(
		table.Text("id", func(a *gateway.AuditEntry) *string { return &a.ID }),
		table.Text("account_id", func(a *gateway.AuditEntry) *string { return &a.AccountID }),
		table.Text("user_id", func(a *gateway.AuditEntry) *string { return &a.UserID }),
		table.Text("user_name", func(a *gateway.AuditEntry) *string { return &a.UserName }),
		table.Text("action", func(a *gateway.AuditEntry) *string { return &a.Action }),
		table.Text("subject", func(a *gateway.AuditEntry) *string { return &a.Subject }),
		table.Text("detail", func(a *gateway.AuditEntry) *string { return &a.Detail }),
		table.Text("address", func(a *gateway.AuditEntry) *string { return &a.Address }),
		table.Moment("created_at", func(a *gateway.AuditEntry) *time.Time { return &a.At }),
	)
)

// Database runs the statements of these tables.
type Database interface {
	table.Database

	// ForUpdate ends a SELECT whose row must not change before the transaction ends.
	ForUpdate() string
}

// Tables are the tables in one database. They are safe for concurrent use.
type Tables struct{ db Database }

// New makes the tables' access to a database that has them.
func New(db Database) *Tables { return &Tables{db: db} }

// codeLastOwner is the code of the error for a change that would leave an account without
// an owner.
const codeLastOwner = "LAST_OWNER"

// nameKey is a user's name as it is looked for. Names are ASCII.
func nameKey(name string) string { return strings.ToLower(name) }

// CreateUser adds a user. If the name or id is taken, it returns a gateway.Conflict.
func (t *Tables) CreateUser(ctx context.Context, user gateway.User) error {
	_, err := t.db.Exec(ctx, userColumns.Insert("users", "name_key"), userColumns.Values(&user, nameKey(user.Name))...)
	return table.Added(err, "there is already a user with this name", "create user")
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

func (t *Tables) findUser(ctx context.Context, where string, arg any) (_ gateway.User, found bool, err error) {
	defer table.Wrap(&err, "find user")
	return userColumns.Find(ctx, t.db.Reader(), "FROM users WHERE "+where, arg)
}

// AllUsers returns the users of all accounts, in no order.
func (t *Tables) AllUsers(ctx context.Context) (_ []gateway.User, err error) {
	defer table.Wrap(&err, "list all users")
	return userColumns.Collect(ctx, t.db.Reader(), "FROM users")
}

// ListUsers returns a page of the account's users, oldest first.
func (t *Tables) ListUsers(ctx context.Context, accountID string, request gateway.PageRequest) (_ gateway.Page[gateway.User], err error) {
	defer table.Wrap(&err, "list users")
	return userColumns.List(ctx, t.db.Scanner(), request, "FROM users WHERE account_id = $1", accountID)
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
	return table.Changed(changed, err, userNotFound(), what)
}

// UseUserLink sets the password of the user whose link has the hash, if the link has not
// ended at that time. It removes the link and ends all sign-ins of the user. Else it
// reports false: the link was used, replaced, or has ended.
func (t *Tables) UseUserLink(ctx context.Context, hash []byte, at time.Time, password string) (bool, error) {
	used := false
	err := t.db.Write(ctx, func(ctx context.Context, q table.Querier) error {
		ids, err := table.Collect(ctx, q, table.Value[string], `UPDATE users SET password = $1, link_hash = $2, link_until = 0, epoch = epoch + 1
			WHERE link_hash = $3 AND link_hash <> $2 AND link_until > $4 RETURNING id`, password, []byte{}, table.NotNull(hash), table.Millis(at))
		if used = err == nil && len(ids) > 0; !used {
			return err
		}
		return deleteSignIns(ctx, q, ids[0])
	})
	table.Wrap(&err, "use link of user")
	return used, err
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
		epoch, found, err = table.Find(ctx, q, table.Value[int64], query, append([]any{id}, args...)...)
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
		users, err := userColumns.Collect(ctx, q, "FROM users WHERE account_id = $1 AND (role = $2 OR id = $3) ORDER BY id"+t.db.ForUpdate(),
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
func (t *Tables) CreateSignIn(ctx context.Context, signIn gateway.SignIn) (err error) {
	defer table.Wrap(&err, "create sign-in")
	_, err = t.db.Exec(ctx, signInColumns.Insert("sign_ins"), signInColumns.Values(&signIn)...)
	return err
}

// UpdateSignIn stores a sign-in in place of the one with its token. It does nothing if that
// one was deleted meanwhile, so that a user who has signed out stays signed out.
func (t *Tables) UpdateSignIn(ctx context.Context, signIn gateway.SignIn) (err error) {
	defer table.Wrap(&err, "update sign-in")
	_, err = t.db.Exec(ctx, "UPDATE sign_ins SET user_id = $1, data = $2, expires_at = $3 WHERE token_hash = $4",
		signIn.UserID, table.NotNull(signIn.Data), table.Millis(signIn.ExpiresAt), signIn.TokenHash)
	return err
}

// FindSignIn returns the sign-in with the token and whether there is one. It may have
// expired.
func (t *Tables) FindSignIn(ctx context.Context, tokenHash string) (_ gateway.SignIn, found bool, err error) {
	defer table.Wrap(&err, "find sign-in")
	return signInColumns.Find(ctx, t.db.Reader(), "FROM sign_ins WHERE token_hash = $1", tokenHash)
}

// DeleteSignIn removes the sign-in with the token, if there is one.
func (t *Tables) DeleteSignIn(ctx context.Context, tokenHash string) (err error) {
	defer table.Wrap(&err, "delete sign-in")
	_, err = t.db.Exec(ctx, "DELETE FROM sign_ins WHERE token_hash = $1", tokenHash)
	return err
}

// DeleteExpiredSignIns removes the sign-ins that have expired at that time.
func (t *Tables) DeleteExpiredSignIns(ctx context.Context, at time.Time) (err error) {
	defer table.Wrap(&err, "delete expired sign-ins")
	_, err = t.db.Exec(ctx, "DELETE FROM sign_ins WHERE expires_at <= $1", table.Millis(at))
	return err
}

// CreatePasskey adds a passkey. If its id is taken, it returns a gateway.Conflict, and if
// its user is gone a gateway.NotFound.
func (t *Tables) CreatePasskey(ctx context.Context, passkey gateway.Passkey) error {
	_, err := t.db.Exec(ctx, passkeyColumns.Insert("passkeys"), passkeyColumns.Values(&passkey)...)
	if sqlerror.IsOrphan(err) {
		return userNotFound()
	}
	return table.Added(err, "this passkey is registered already", "create passkey")
}

// ListPasskeys returns the passkeys of the user, oldest first.
func (t *Tables) ListPasskeys(ctx context.Context, userID string) (_ []gateway.Passkey, err error) {
	defer table.Wrap(&err, "list passkeys")
	return passkeyColumns.Collect(ctx, t.db.Reader(), "FROM passkeys WHERE user_id = $1 ORDER BY created_at, id", userID)
}

// TouchPasskey stores when the user used the passkey, and what is needed to check it the
// next time.
func (t *Tables) TouchPasskey(ctx context.Context, userID string, id, credential []byte, at time.Time) (err error) {
	defer table.Wrap(&err, "touch passkey")
	_, err = t.db.Exec(ctx, "UPDATE passkeys SET credential = $1, last_used_at = $2 WHERE user_id = $3 AND id = $4",
		credential, table.Millis(at), userID, id)
	return err
}

// DeletePasskey removes a passkey of the user. It returns a gateway.NotFound if the user
// has no such passkey.
func (t *Tables) DeletePasskey(ctx context.Context, userID string, id []byte) error {
	changed, err := t.db.Exec(ctx, "DELETE FROM passkeys WHERE user_id = $1 AND id = $2", userID, id)
	return table.Changed(changed, err, gateway.Errorf(gateway.NotFound, gateway.CodeNotFound, "there is no such passkey"), "delete passkey")
}

// AddAudit adds an entry to the audit list of its account.
func (t *Tables) AddAudit(ctx context.Context, entry gateway.AuditEntry) (err error) {
	defer table.Wrap(&err, "add to audit")
	_, err = t.db.Exec(ctx, auditColumns.Insert("audit"), auditColumns.Values(&entry)...)
	return err
}

// ListAudit returns a page of the account's audit list, newest first.
func (t *Tables) ListAudit(ctx context.Context, accountID string, request gateway.PageRequest) (_ gateway.Page[gateway.AuditEntry], err error) {
	defer table.Wrap(&err, "list audit")
	return table.ListBy(ctx, t.db.Scanner(), auditColumns.Scan, request, table.Order[gateway.AuditEntry]{By: "created_at DESC, id DESC"},
		auditColumns.Names, "FROM audit WHERE account_id = $1", accountID)
}

// TrimAudit removes from the audit lists the entries of before a time, and of each account
// all but its newest.
func (t *Tables) TrimAudit(ctx context.Context, before time.Time, newest int) (err error) {
	defer table.Wrap(&err, "trim audit")
	_, err = t.db.Exec(ctx, `DELETE FROM audit WHERE created_at < $1 OR id IN (
		SELECT id FROM (SELECT id, row_number() OVER (PARTITION BY account_id ORDER BY created_at DESC, id DESC) AS rank FROM audit) AS ranked
		WHERE rank > $2)`, table.Millis(before), newest)
	return err
}
