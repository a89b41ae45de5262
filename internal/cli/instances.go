package cli

import (
	"context"

	"github.com/recado-project/recado/client"
	"github.com/recado-project/recado/internal/cli/remote"
	"github.com/recado-project/recado/internal/cli/target"
	"github.com/recado-project/recado/internal/cli/terminal"
)

// instancesCommand works on instances, through a running gateway.
type instancesCommand struct {
	Create  createInstanceCommand  `cmd:"" help:"Create an instance and print its id. Needs a partner key."`
	List    listInstancesCommand   `cmd:"" help:"List the instances in the scope of the key."`
	Show    showInstanceCommand    `cmd:"" help:"Show one instance."`
	Set     setInstanceCommand     `cmd:"" help:"Change an instance: its name, its proxy, what the phone lists of its device, what it keeps to when it writes."`
	Limits  limitsCommand          `cmd:"" help:"Show what an instance has to heed when it writes: restriction, budgets, messages without an answer."`
	Link    linkInstanceCommand    `cmd:"" help:"Show the codes that link an instance, until a phone has used one."`
	Restart restartInstanceCommand `cmd:"" help:"Reconnect an instance, or bring a stopped one back."`
	Stop    stopInstanceCommand    `cmd:"" help:"Close the session of an instance but keep it linked. Needs a partner key."`
	Logout  logoutInstanceCommand  `cmd:"" help:"End the session on the platform; the instance has to be linked again."`
	Delete  deleteInstanceCommand  `cmd:"" help:"Log an instance out and remove it with its messages. Needs a partner key."`
}

type createInstanceCommand struct {
	target.GatewayFlags
	Name string `arg:"" help:"Name of the instance."`
}

// Run creates the instance.
func (c createInstanceCommand) Run(ctx context.Context, t terminal.Terminal) error {
	gateway, err := c.Connect(t)
	if err != nil {
		return err
	}
	instance, err := gateway.CreateInstance(ctx, client.NewInstance{Name: c.Name})
	if err != nil {
		return err
	}
	return t.Print(instance, instance.InstanceID)
}

type listInstancesCommand struct {
	target.GatewayFlags
}

// Run lists the instances, oldest first.
func (c listInstancesCommand) Run(ctx context.Context, t terminal.Terminal) error {
	gateway, err := c.Connect(t)
	if err != nil {
		return err
	}
	instances := []client.Instance{} // never null
	var rows [][]string
	for instance, err := range gateway.Instances(ctx) {
		if err != nil {
			return err
		}
		instances = append(instances, instance)
		rows = append(rows, []string{instance.InstanceID, instance.Name, instance.Status, instance.MessengerID})
	}
	return t.Table(instances, []string{"ID", "NAME", "STATUS", "NUMBER"}, rows)
}

type showInstanceCommand struct{ target.InstanceArgument }

// Run shows the instance.
func (c showInstanceCommand) Run(ctx context.Context, t terminal.Terminal) error {
	gateway, err := c.Connect(t)
	if err != nil {
		return err
	}
	instance, err := target.FindInstance(ctx, gateway, c.Instance)
	if err != nil {
		return err
	}
	return showInstance(t, instance)
}

func showInstance(t terminal.Terminal, instance client.Instance) error {
	pairs := []terminal.Pair{
		{"id", instance.InstanceID},
		{"name", instance.Name},
		{"status", instance.Status},
		{"number", instance.MessengerID},
		{"chat id", instance.MessengerJID},
		{"lid", instance.MessengerLID},
		{"account", instance.MessengerName},
		{"picture", instance.MessengerProfilePicURL},
		{"proxy", instance.Proxy},
		{"proxy problem", instance.ProxyProblem},
		{"device name", instance.Device.Name},
		{"device kind", instance.Device.Kind},
		{"created", terminal.Moment(instance.CreatedAt)},
		{"updated", terminal.Moment(instance.UpdatedAt)},
	}
	return t.Fields(instance, append(pairs, pairsOf(remote.PaceLines(instance))...)...)
}

type setInstanceCommand struct {
	target.InstanceArgument
	Name       *string `help:"Name of the instance." env:"-"`
	Proxy      *string `help:"URL of the proxy to the platform: socks5h://user:password@host:1080, socks5://, http:// or https://. Use the variable to keep it out of the process list; empty removes it." env:"RECADO_INSTANCE_PROXY"`
	DeviceName *string `help:"What the phone lists as the name of the device, from the next linking on; empty: Recado." env:"-"`
	DeviceKind *string `help:"What sort of device the phone lists: desktop, chrome, edge, firefox, opera, safari, ipad or tablet; empty: desktop." env:"-"`
	remote.PaceFlags
}

// Run changes the instance.
func (c setInstanceCommand) Run(ctx context.Context, t terminal.Terminal) error {
	change := client.InstanceChange{Name: c.Name, Proxy: target.OrNull(c.Proxy)}
	if c.DeviceName != nil || c.DeviceKind != nil {
		change.Device = client.Set(client.DeviceChange{Name: target.OrNull(c.DeviceName), Kind: target.OrNull(c.DeviceKind)})
	}
	c.Change(&change)
	if change == (client.InstanceChange{}) {
		return terminal.WrongUsage("nothing is to be changed: pass --name, --proxy or another flag of recado help instances set")
	}
	gateway, id, err := c.Open(ctx, t)
	if err != nil {
		return err
	}
	instance, err := gateway.ChangeInstance(ctx, id, change)
	if err != nil {
		return err
	}
	return showInstance(t, instance)
}

type limitsCommand struct{ target.InstanceArgument }

// Run shows the limits.
func (c limitsCommand) Run(ctx context.Context, t terminal.Terminal) error {
	gateway, id, err := c.Open(ctx, t)
	if err != nil {
		return err
	}
	limits, err := gateway.GetLimits(ctx, id)
	if err != nil {
		return err
	}
	return t.Fields(limits, pairsOf(remote.LimitLines(limits))...)
}

func pairsOf(lines []remote.PaceLine) []terminal.Pair {
	pairs := make([]terminal.Pair, len(lines))
	for i, line := range lines {
		pairs[i] = terminal.Pair{line.Name, line.Value}
	}
	return pairs
}

type restartInstanceCommand struct{ target.InstanceArgument }

// Run restarts the instance.
func (c restartInstanceCommand) Run(ctx context.Context, t terminal.Terminal) error {
	gateway, id, err := c.Open(ctx, t)
	if err == nil {
		err = gateway.RestartInstance(ctx, id)
	}
	return c.Did(t, id, "restarted", err)
}

type stopInstanceCommand struct{ target.InstanceArgument }

// Run stops the instance.
func (c stopInstanceCommand) Run(ctx context.Context, t terminal.Terminal) error {
	gateway, id, err := c.Open(ctx, t)
	if err == nil {
		err = gateway.StopInstance(ctx, id)
	}
	return c.Did(t, id, "stopped", err)
}

type logoutInstanceCommand struct{ target.InstanceArgument }

// Run logs the instance out.
func (c logoutInstanceCommand) Run(ctx context.Context, t terminal.Terminal) error {
	gateway, id, err := c.Open(ctx, t)
	if err == nil {
		err = gateway.LogoutInstance(ctx, id)
	}
	return c.Did(t, id, "logged out", err)
}

type deleteInstanceCommand struct{ target.InstanceArgument }

// Run deletes the instance.
func (c deleteInstanceCommand) Run(ctx context.Context, t terminal.Terminal) error {
	gateway, id, err := c.Open(ctx, t)
	if err == nil {
		err = gateway.DeleteInstance(ctx, id)
	}
	return c.Did(t, id, "deleted", err)
}
