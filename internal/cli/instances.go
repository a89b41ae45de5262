package cli

import (
	"context"
	"errors"
	"text/tabwriter"
	"time"

	"github.com/mdp/qrterminal/v3"

	"github.com/recado-project/recado/client"
)

// instancesCommand calls a running gateway, as any other client does.
type instancesCommand struct {
	Create createInstanceCommand `cmd:"" help:"Create an instance and print its id. Needs a partner key."`
	List   listInstancesCommand  `cmd:"" help:"List the instances that the key reaches."`
	Link   linkInstanceCommand   `cmd:"" help:"Show the code that links an instance, until a phone has scanned it."`
}

// gatewayFlags say which gateway is called, and as whom.
type gatewayFlags struct {
	URL    string `help:"Address of the gateway." default:"http://127.0.0.1:8080"`
	APIKey string `help:"API key." required:"" name:"api-key"`
}

func (f gatewayFlags) client() *client.Client { return client.New(f.URL, f.APIKey) }

type createInstanceCommand struct {
	gatewayFlags
	Name string `arg:"" help:"What the instance is for."`
}

// Run creates the instance.
func (c createInstanceCommand) Run(ctx context.Context, t terminal) error {
	instance, err := c.client().CreateInstance(ctx, c.Name)
	if err != nil {
		return err
	}
	t.printf("%s\n", instance.InstanceID)
	return nil
}

type listInstancesCommand struct {
	gatewayFlags
}

// Run lists the instances, oldest first.
func (c listInstancesCommand) Run(ctx context.Context, t terminal) (err error) {
	table := tabwriter.NewWriter(t.out, 0, 0, 2, ' ', 0)
	defer func() { err = errors.Join(err, table.Flush()) }()
	row(table, "ID", "NAME", "STATUS", "NUMBER")
	for number := 1; ; number++ {
		page, err := c.client().ListInstances(ctx, number, 0)
		if err != nil {
			return err
		}
		for _, instance := range page.Data {
			row(table, instance.InstanceID, instance.Name, instance.Status, instance.MessengerID)
		}
		if page.IsLastPage {
			return nil
		}
	}
}

type linkInstanceCommand struct {
	gatewayFlags
	ID    string `arg:"" help:"The instance's id."`
	Phone string `help:"Show the characters to type on the phone of this number, instead of a code to scan."`
}

// codeCheck is how often the gateway is asked whether the code was used.
const codeCheck = time.Second

// Run shows codes until the instance is linked.
func (c linkInstanceCommand) Run(ctx context.Context, t terminal) error {
	if c.Phone != "" {
		code, err := c.client().PairingCode(ctx, c.ID, c.Phone)
		if err != nil {
			return err
		}
		t.printf("On the phone: Linked devices, Link with phone number instead.\nType: %s\n", code.PairingCode)
	}
	shown := 0
	ticker := time.NewTicker(codeCheck)
	defer ticker.Stop()
	for {
		instance, err := c.instance(ctx)
		if err != nil {
			return err
		}
		switch {
		case instance.Status == "connected":
			t.printf("Linked to %s (%s).\n", instance.MessengerID, instance.MessengerName)
			return nil
		case shown > 0 && (instance.Status == "qr_timeout" || instance.Status == "error"):
			return errors.New("nobody used the code in time, or the platform refused: run the command again")
		}
		switch {
		case c.Phone != "":
			shown = 1 // the characters stand above
		case shown == 0 || instance.Status == "pending_qr_code_scan":
			if shown, err = c.show(ctx, t, shown); err != nil {
				return err
			}
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// show prints the code that is current, unless it was shown already, and returns
// its number.
func (c linkInstanceCommand) show(ctx context.Context, t terminal, shown int) (int, error) {
	code, err := c.client().RawQRCode(ctx, c.ID)
	if client.IsCode(err, "INSTANCE_ALREADY_CONNECTED") {
		return max(shown, 1), nil // it was scanned in this moment
	}
	if err != nil {
		return shown, err
	}
	if code.Attempt == shown {
		return shown, nil
	}
	t.printf("On the phone: Linked devices, Link a device. Code %d:\n", code.Attempt)
	qrterminal.GenerateHalfBlock(code.QRCode, qrterminal.L, t.out)
	return code.Attempt, nil
}

// instance finds the instance among those that the key reaches: the API has no
// request for a single one.
func (c linkInstanceCommand) instance(ctx context.Context) (client.Instance, error) {
	for number := 1; ; number++ {
		page, err := c.client().ListInstances(ctx, number, 0)
		if err != nil {
			return client.Instance{}, err
		}
		for _, instance := range page.Data {
			if instance.InstanceID == c.ID {
				return instance, nil
			}
		}
		if page.IsLastPage {
			return client.Instance{}, errors.New("the key reaches no instance with this id")
		}
	}
}
