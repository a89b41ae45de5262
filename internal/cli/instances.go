package cli

import (
	"context"
	"iter"
	"slices"
	"strings"

	"github.com/recado-project/recado/client"
	"github.com/recado-project/recado/internal/cli/remote"
	"github.com/recado-project/recado/internal/cli/terminal"
)

// instancesCommand works on instances, through a running gateway. They are linked by recado qr.
type instancesCommand struct {
	Create  createInstanceCommand  `cmd:"" help:"Create an instance and print its id. Needs a partner key."`
	List    listInstancesCommand   `cmd:"" help:"List the instances in the scope of the key."`
	Show    showInstanceCommand    `cmd:"" help:"Show one instance."`
	Set     setInstanceCommand     `cmd:"" help:"Change an instance: its name, its proxy, what the phone lists of its device, what it keeps to when it writes."`
	Limits  limitsCommand          `cmd:"" help:"Show what an instance has to heed when it writes: restriction, budgets, messages without an answer."`
	Restart restartInstanceCommand `cmd:"" help:"Reconnect an instance, or bring a stopped one back."`
	Stop    stopInstanceCommand    `cmd:"" help:"Close the session of an instance but keep it linked. Needs a partner key."`
	Logout  logoutInstanceCommand  `cmd:"" help:"End the session on the platform; the instance has to be linked again."`
	Delete  deleteInstanceCommand  `cmd:"" help:"Log an instance out and remove it with its messages. Needs a partner key."`
}

type createInstanceCommand struct {
	remote.GatewayFlags
	Name         string `arg:"" help:"Name of the instance."`
	ExternalName string `help:"What your programs call the instance, and no other of the account." env:"-"`
}

// Run creates the instance.
func (c createInstanceCommand) Run(ctx context.Context, t terminal.Terminal, gateway *client.Client) error {
	instance, err := gateway.CreateInstance(ctx, client.NewInstance{Name: c.Name, ExternalName: c.ExternalName})
	return t.Unless(err).Print(instance, instance.InstanceID)
}

type listInstancesCommand struct {
	remote.GatewayFlags
	Status []string `help:"Only instances with one of these statuses, with commas in between: ${enum}." placeholder:"connected,…" env:"-" enum:"created,connecting,pending_qr_code_scan,connected,stopped,manually_stopped,error,qr_timeout,payment_pending"`
	Search string   `arg:"" optional:"" help:"Only instances with this text in their name, id, number or account."`
}

// Run lists the instances that were asked for, oldest first.
func (c listInstancesCommand) Run(ctx context.Context, t terminal.Terminal, gateway *client.Client) error {
	head := []string{"ID", "NAME", "STATUS", "NUMBER", "ACCOUNT"}
	return terminal.List(t, c.chosen(gateway.Instances(ctx, client.ListInstancesParams{})), head, func(one client.Instance) []string {
		return []string{one.InstanceID, one.Name, one.Status, one.MessengerID, one.MessengerName}
	})
}

// chosen passes on the instances that were asked for, and errors.
func (c listInstancesCommand) chosen(all iter.Seq2[client.Instance, error]) iter.Seq2[client.Instance, error] {
	return func(yield func(client.Instance, error) bool) {
		for one, err := range all {
			if (err != nil || c.matches(one)) && !yield(one, err) {
				return
			}
		}
	}
}

// matches reports whether an instance was asked for.
func (c listInstancesCommand) matches(one client.Instance) bool {
	if len(c.Status) > 0 && !slices.Contains(c.Status, one.Status) {
		return false
	}
	return slices.ContainsFunc([]string{one.Name, one.InstanceID, one.MessengerID, one.MessengerName}, func(text string) bool {
		return strings.Contains(strings.ToLower(text), strings.ToLower(c.Search))
	})
}

type showInstanceCommand struct{ remote.InstanceArgument }

// Run shows the instance.
func (c showInstanceCommand) Run(ctx context.Context, t terminal.Terminal, gateway *client.Client) error {
	instance, err := remote.FindInstance(ctx, gateway, c.Instance)
	return printInstance(t.Unless(err), instance)
}

// printInstance prints an instance.
func printInstance(t terminal.Terminal, instance client.Instance) error {
	pairs := []terminal.Pair{
		{"id", instance.InstanceID},
		{"name", instance.Name},
		{"external name", instance.ExternalName},
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
	return t.Fields(instance, append(pairs, remote.PaceLines(instance)...)...)
}

type setInstanceCommand struct {
	remote.InstanceArgument
	Name         *string `help:"Name of the instance." env:"-"`
	ExternalName *string `help:"What your programs call the instance, and no other of the account; empty: nothing." env:"-"`
	Proxy        *string `help:"URL of the proxy to the platform: socks5h://user:password@host:1080, socks5://, http:// or https://. Use the variable to keep it out of the process list; empty removes it." env:"RECADO_INSTANCE_PROXY"`
	DeviceName   *string `help:"What the phone lists as the name of the device, from the next linking on; empty: Recado." env:"-"`
	DeviceKind   *string `help:"What sort of device the phone lists: desktop, chrome, edge, firefox, opera, safari, ipad or tablet; empty: desktop." env:"-"`
	remote.PaceFlags
}

// Run changes the instance.
func (c setInstanceCommand) Run(ctx context.Context, t terminal.Terminal) error {
	change := client.InstanceChange{Name: c.Name, ExternalName: remote.OrNull(c.ExternalName), Proxy: remote.OrNull(c.Proxy)}
	if c.DeviceName != nil || c.DeviceKind != nil {
		change.Device = client.Set(client.DeviceChange{Name: remote.OrNull(c.DeviceName), Kind: remote.OrNull(c.DeviceKind)})
	}
	c.Change(&change)
	if change == (client.InstanceChange{}) {
		return terminal.WrongUsage("nothing is to be changed: pass --name, --proxy or another flag of recado help instances set")
	}
	on, err := c.ProvideInstance(ctx, t)
	if err != nil {
		return err
	}
	instance, err := on.Gateway.ChangeInstance(ctx, on.ID, change)
	return printInstance(t.Unless(err), instance)
}

type limitsCommand struct{ remote.InstanceArgument }

// Run shows the limits.
func (c limitsCommand) Run(ctx context.Context, t terminal.Terminal, on remote.Instance) error {
	limits, err := on.Gateway.GetLimits(ctx, on.ID)
	return t.Unless(err).Fields(limits, remote.LimitLines(limits)...)
}

type restartInstanceCommand struct{ remote.InstanceArgument }

// Run restarts the instance.
func (c restartInstanceCommand) Run(ctx context.Context, t terminal.Terminal, on remote.Instance) error {
	return t.Did("restarted", "instanceId", on.ID, on.Gateway.RestartInstance(ctx, on.ID))
}

type stopInstanceCommand struct{ remote.InstanceArgument }

// Run stops the instance.
func (c stopInstanceCommand) Run(ctx context.Context, t terminal.Terminal, on remote.Instance) error {
	return t.Did("stopped", "instanceId", on.ID, on.Gateway.StopInstance(ctx, on.ID))
}

type logoutInstanceCommand struct{ remote.InstanceArgument }

// Run logs the instance out.
func (c logoutInstanceCommand) Run(ctx context.Context, t terminal.Terminal, on remote.Instance) error {
	return t.Did("logged out", "instanceId", on.ID, on.Gateway.LogoutInstance(ctx, on.ID))
}

type deleteInstanceCommand struct{ remote.InstanceArgument }

// Run deletes the instance.
func (c deleteInstanceCommand) Run(ctx context.Context, t terminal.Terminal, on remote.Instance) error {
	return t.Did("deleted", "instanceId", on.ID, on.Gateway.DeleteInstance(ctx, on.ID))
}
