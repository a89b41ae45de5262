package data

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/recado-project/recado/internal/access"
	"github.com/recado-project/recado/internal/cli/terminal"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/store"
)

// KeysCommand works on the data itself, whether a gateway runs on it or not: the API
// can't create the first key, because it requires one.
type KeysCommand struct {
	Create createKeyCommand `cmd:"" help:"Create an API key and print it; it is shown only once."`
	List   listKeysCommand  `cmd:"" help:"List the API keys."`
	Revoke revokeKeyCommand `cmd:"" help:"End an API key at once."`
}

type createKeyCommand struct {
	AccountFlags
	Name     string   `help:"Name of the key, for people." required:"" env:"-"`
	Partner  bool     `help:"The key may create and delete instances and keys of its account." env:"-"`
	Instance []string `help:"Name or id of an instance in the scope of the key; may be repeated. Without it: all instances of the account." env:"-"`
	Expires  duration `help:"How long the key is valid, for example 30d or 12h. Without it: for ever." env:"-"`
}

// Run creates the key, and the data and the account if they do not exist yet, so that
// a key can be created before the first start.
func (c createKeyCommand) Run(ctx context.Context, t terminal.Terminal) (err error) {
	file := c.config(nil).Path // empty with PostgreSQL
	isNew := file != "" && !exists(file)
	if isNew && len(c.Instance) > 0 {
		return fmt.Errorf("there is no gateway data in %s, so there are no instances: choose its folder with --data", c.Data)
	}
	opened, err := c.open(ctx, t.Logger)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, opened.Close()) }()
	if isNew {
		t.Notef("created a new data folder %s; a gateway with another data folder does not know this key", c.Data)
	}
	service, err := access.New(access.Config{Store: opened, Now: t.Now})
	if err != nil {
		return err
	}
	account, err := service.EnsureAccount(ctx, c.AccountName())
	if err != nil {
		return err
	}
	params := access.KeyParams{AccountID: account.ID, Name: c.Name, Partner: c.Partner}
	for _, nameOrID := range c.Instance {
		id, err := ownInstance(ctx, opened, account, nameOrID)
		if err != nil {
			return err
		}
		params.InstanceIDs = append(params.InstanceIDs, id)
	}
	if c.Expires != 0 {
		params.ExpiresAt = t.Now().UTC().Add(time.Duration(c.Expires))
	}
	key, secret, err := service.CreateKey(ctx, params)
	if err != nil {
		return err
	}
	t.Notef("account %s, key %s; it is shown only once", account.Name, key.ID)
	shown := newShownKey(key, account.Name, t.Now())
	shown.Key = secret
	return t.Print(shown, secret)
}

// ownInstance is the id of the account's instance with a name or id.
func ownInstance(ctx context.Context, opened *store.Store, account gateway.Account, nameOrID string) (string, error) {
	var found []string
	list := func(page gateway.PageRequest) (gateway.Page[gateway.Instance], error) {
		return opened.ListInstances(ctx, account.ID, nil, page)
	}
	for instance, err := range every(list) {
		switch {
		case err != nil:
			return "", err
		case nameOrID == instance.ID:
			return instance.ID, nil
		case nameOrID == instance.Name:
			found = append(found, instance.ID)
		}
	}
	switch len(found) {
	case 0:
		return "", fmt.Errorf("account %s has no instance %s: `recado list` shows its instances", account.Name, nameOrID)
	case 1:
		return found[0], nil
	default:
		return "", terminal.WrongUsage("%d instances are called %s, choose one by its id: %s", len(found), nameOrID, strings.Join(found, ", "))
	}
}

// shownKey is a key as JSON.
type shownKey struct {
	ID          string     `json:"id"`
	Name        string     `json:"name"`
	Account     string     `json:"account"`
	Key         string     `json:"key,omitempty"`
	InstanceIDs []string   `json:"instanceIds"`
	Partner     bool       `json:"partner"`
	State       string     `json:"state"`
	ExpiresAt   *time.Time `json:"expiresAt"`
	LastUsedAt  *time.Time `json:"lastUsedAt"`

	Dialects []gateway.Spoken `json:"dialects"`
}

func newShownKey(key gateway.Key, account string, now time.Time) shownKey {
	shown := shownKey{
		ID: key.ID, Name: key.Name, Account: account, InstanceIDs: append([]string{}, key.InstanceIDs...),
		Partner: key.Partner, State: "valid", Dialects: append([]gateway.Spoken{}, key.Spoken...),
	}
	switch {
	case !key.RevokedAt.IsZero():
		shown.State = "revoked"
	case !key.Valid(now):
		shown.State = "expired"
	}
	if !key.ExpiresAt.IsZero() {
		shown.ExpiresAt = &key.ExpiresAt
	}
	if !key.LastUsedAt.IsZero() {
		shown.LastUsedAt = &key.LastUsedAt
	}
	return shown
}

type listKeysCommand struct{ AccountFlags }

// Run lists the keys, oldest first.
func (c listKeysCommand) Run(ctx context.Context, t terminal.Terminal, on accountData) error {
	list := func(page gateway.PageRequest) (gateway.Page[gateway.Key], error) {
		return on.store.ListKeys(ctx, on.account.ID, page)
	}
	keys := []shownKey{} // never null
	for key, err := range every(list) {
		if err != nil {
			return err
		}
		keys = append(keys, newShownKey(key, on.account.Name, t.Now()))
	}
	head := []string{"ID", "NAME", "PARTNER", "STATE", "LAST USED", "DIALECTS"}
	return terminal.Rows(t, keys, head, func(key shownKey) []string {
		state := key.State
		if state == "valid" && key.ExpiresAt != nil {
			state = "until " + terminal.Moment(*key.ExpiresAt)
		}
		var dialects []string
		for _, spoken := range key.Dialects {
			dialects = append(dialects, spoken.Dialect)
		}
		return []string{key.ID, key.Name, terminal.YesNo(key.Partner), state, terminal.MomentOrNever(key.LastUsedAt), strings.Join(dialects, " ")}
	})
}

type revokeKeyCommand struct {
	AccountFlags
	ID string `arg:"" help:"The key's id, from the list."`
}

// Run revokes the key.
func (c revokeKeyCommand) Run(ctx context.Context, t terminal.Terminal, on accountData) error {
	service, err := access.New(access.Config{Store: on.store, Now: t.Now})
	if err != nil {
		return err
	}
	return t.Did("revoked", "id", c.ID, service.RevokeKey(ctx, on.account.ID, c.ID))
}

// duration is a time.Duration that can also be given in days: 30d.
type duration time.Duration

// UnmarshalText reads a duration.
func (d *duration) UnmarshalText(text []byte) error {
	const day = 24 * time.Hour
	if number, ok := strings.CutSuffix(string(text), "d"); ok {
		days, err := strconv.ParseInt(number, 10, 32)
		if err != nil || days < 0 || days > 36_500 {
			return fmt.Errorf("%q is not a number of days such as 30d", text)
		}
		*d = duration(time.Duration(days) * day)
		return nil
	}
	parsed, err := time.ParseDuration(string(text))
	if err != nil || parsed < 0 {
		return fmt.Errorf("%q is not a duration such as 30d, 12h or 90m", text)
	}
	*d = duration(parsed)
	return nil
}
