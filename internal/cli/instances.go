package cli

import (
	"context"

	"github.com/recado-project/recado/client"
)

// instancesCommand works on instances, through a running gateway.
type instancesCommand struct {
	Create  createInstanceCommand  `cmd:"" help:"Create an instance and print its id. Needs a partner key."`
	List    listInstancesCommand   `cmd:"" help:"List the instances in the scope of the key."`
	Show    showInstanceCommand    `cmd:"" help:"Show one instance."`
	Link    linkInstanceCommand    `cmd:"" help:"Show the codes that link an instance, until a phone has used one."`
	Restart restartInstanceCommand `cmd:"" help:"Reconnect an instance, or bring a stopped one back."`
	Stop    stopInstanceCommand    `cmd:"" help:"Close the session of an instance but keep it linked. Needs a partner key."`
	Logout  logoutInstanceCommand  `cmd:"" help:"End the session on the platform; the instance has to be linked again."`
	Delete  deleteInstanceCommand  `cmd:"" help:"Log an instance out and remove it with its messages. Needs a partner key."`
}

type createInstanceCommand struct {
	gatewayFlags
	Name string `arg:"" help:"Name of the instance."`
}

// Run creates the instance.
func (c createInstanceCommand) Run(ctx context.Context, t terminal) error {
	gateway, err := c.connect(t)
	if err != nil {
		return err
	}
	instance, err := gateway.CreateInstance(ctx, c.Name)
	if err != nil {
		return err
	}
	return t.print(instance, instance.InstanceID)
}

type listInstancesCommand struct {
	gatewayFlags
}

// Run lists the instances, oldest first.
func (c listInstancesCommand) Run(ctx context.Context, t terminal) error {
	gateway, err := c.connect(t)
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
	return t.table(instances, []string{"ID", "NAME", "STATUS", "NUMBER"}, rows)
}

type showInstanceCommand struct{ instanceArgument }

// Run shows the instance.
func (c showInstanceCommand) Run(ctx context.Context, t terminal) error {
	gateway, err := c.connect(t)
	if err != nil {
		return err
	}
	instance, err := findInstance(ctx, gateway, c.Instance)
	if err != nil {
		return err
	}
	return t.fields(
		instance,
		pair{"id", instance.InstanceID}, pair{"name", instance.Name}, pair{"status", instance.Status},
		pair{"number", instance.MessengerID}, pair{"chat id", instance.MessengerJID}, pair{"lid", instance.MessengerLID},
		pair{"account", instance.MessengerName}, pair{"picture", instance.MessengerProfilePicURL},
		pair{"created", moment(instance.CreatedAt)}, pair{"updated", moment(instance.UpdatedAt)},
	)
}

type restartInstanceCommand struct{ instanceArgument }

// Run restarts the instance.
func (c restartInstanceCommand) Run(ctx context.Context, t terminal) error {
	gateway, id, err := c.open(ctx, t)
	if err == nil {
		err = gateway.Restart(ctx, id)
	}
	return c.did(t, id, "restarted", err)
}

type stopInstanceCommand struct{ instanceArgument }

// Run stops the instance.
func (c stopInstanceCommand) Run(ctx context.Context, t terminal) error {
	gateway, id, err := c.open(ctx, t)
	if err == nil {
		err = gateway.StopInstance(ctx, id)
	}
	return c.did(t, id, "stopped", err)
}

type logoutInstanceCommand struct{ instanceArgument }

// Run logs the instance out.
func (c logoutInstanceCommand) Run(ctx context.Context, t terminal) error {
	gateway, id, err := c.open(ctx, t)
	if err == nil {
		err = gateway.Logout(ctx, id)
	}
	return c.did(t, id, "logged out", err)
}

type deleteInstanceCommand struct{ instanceArgument }

// Run deletes the instance.
func (c deleteInstanceCommand) Run(ctx context.Context, t terminal) error {
	gateway, id, err := c.open(ctx, t)
	if err == nil {
		err = gateway.DeleteInstance(ctx, id)
	}
	return c.did(t, id, "deleted", err)
}

// did prints what was done to the instance, unless it failed.
func (a instanceArgument) did(t terminal, id, what string, err error) error {
	if err != nil {
		return err
	}
	return t.done(map[string]any{"instanceId": id, "done": what}, "%s %s", what, id)
}
