package cli

import (
	"context"
	"errors"
	"text/tabwriter"
	"time"

	"github.com/recado-project/recado/internal/access"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/store"
)

// keysCommand works on the data itself, whether a gateway runs on it or not: the
// first key can't be asked of an API that wants one.
type keysCommand struct {
	Create createKeyCommand `cmd:"" help:"Create an API key and print it; it is shown this once."`
	List   listKeysCommand  `cmd:"" help:"List the API keys."`
	Revoke revokeKeyCommand `cmd:"" help:"End an API key at once."`
}

// accountFlags say whose keys are meant.
type accountFlags struct {
	dataFlags
	Account string `help:"Account that owns keys and instances; it is made where it does not exist." default:"default"`
}

// open opens the store and finds the account.
func (f accountFlags) open(ctx context.Context, t terminal) (*access.Service, gateway.Account, func() error, error) {
	opened, err := store.Open(ctx, f.store(t.logger))
	if err != nil {
		return nil, gateway.Account{}, nil, err
	}
	service := access.New(opened, t.now)
	account, err := service.EnsureAccount(ctx, f.Account)
	if err != nil {
		return nil, gateway.Account{}, nil, errors.Join(err, opened.Close())
	}
	return service, account, opened.Close, nil
}

type createKeyCommand struct {
	accountFlags
	Name     string        `help:"What the key is for." required:""`
	Partner  bool          `help:"The key may create and delete instances and keys of its account."`
	Instance []string      `help:"Instance that the key reaches; may be repeated. Without it: all of the account."`
	Expires  time.Duration `help:"After how long the key ends, as 720h. Without it: never."`
}

// Run creates the key.
func (c createKeyCommand) Run(ctx context.Context, t terminal) (err error) {
	service, account, closeStore, err := c.open(ctx, t)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closeStore()) }()
	params := access.KeyParams{
		AccountID: account.ID, Name: c.Name, InstanceIDs: c.Instance, Partner: c.Partner,
	}
	if c.Expires != 0 {
		params.ExpiresAt = t.now().UTC().Add(c.Expires)
	}
	_, secret, err := service.CreateKey(ctx, params)
	if err != nil {
		return err
	}
	t.printf("%s\n", secret)
	return nil
}

type listKeysCommand struct {
	accountFlags
}

// keysAtOnce is how many keys are read at a time.
const keysAtOnce = 100

// Run lists the keys, oldest first.
func (c listKeysCommand) Run(ctx context.Context, t terminal) (err error) {
	service, account, closeStore, err := c.open(ctx, t)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closeStore()) }()
	table := tabwriter.NewWriter(t.out, 0, 0, 2, ' ', 0)
	defer func() { err = errors.Join(err, table.Flush()) }()
	row(table, "ID", "NAME", "PARTNER", "STATE", "LAST USED")
	for number := 1; ; number++ {
		page, err := service.ListKeys(ctx, account.ID, gateway.PageRequest{Page: number, Limit: keysAtOnce})
		if err != nil {
			return err
		}
		for _, key := range page.Items {
			row(table, key.ID, key.Name, yesNo(key.Partner), keyState(key), moment(key.LastUsedAt))
		}
		if number*keysAtOnce >= page.Total {
			return nil
		}
	}
}

type revokeKeyCommand struct {
	accountFlags
	ID string `arg:"" help:"The key's id, from the list."`
}

// Run revokes the key.
func (c revokeKeyCommand) Run(ctx context.Context, t terminal) (err error) {
	service, account, closeStore, err := c.open(ctx, t)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closeStore()) }()
	if err := service.RevokeKey(ctx, account.ID, c.ID); err != nil {
		return err
	}
	t.printf("revoked %s\n", c.ID)
	return nil
}

func keyState(key gateway.Key) string {
	switch {
	case !key.RevokedAt.IsZero():
		return "revoked"
	case key.ExpiresAt.IsZero():
		return "valid"
	default:
		return "until " + moment(key.ExpiresAt)
	}
}
