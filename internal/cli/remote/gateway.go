// Package remote has commands that call a gateway, about one noun each (labels, groups, channels, webhooks and so
// on), and the flags with which every such command names the gateway and the instance. A command is a struct with its
// flags; its Run method takes the client of the gateway or an Instance, which kong has made of the flags, and prints
// through the terminal that it is given.
package remote

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/recado-project/recado/client"
	"github.com/recado-project/recado/internal/cli/terminal"
)

// GatewayFlags name the gateway to call, and the key.
type GatewayFlags struct {
	URL     string        `help:"Address of the gateway." default:"http://127.0.0.1:8080"`
	APIKey  string        `help:"API key; required. Use the variable to keep it out of the process list." name:"api-key"`
	Timeout time.Duration `help:"How long to wait for an answer; a message with a file gets ten times as long." default:"45s"`
}

// fileFactor is how much longer a call may take that waits for the platform or carries
// a file.
const fileFactor = 10

// ProvideClient makes the client of the gateway without calling it. Its error is a usage error. Kong calls
// it for a Run method that takes a client. (Providers call each other themselves: kong would put the name
// of a type before the error.)
func (f GatewayFlags) ProvideClient(t terminal.Terminal) (*client.Client, error) {
	address, err := url.Parse(f.URL)
	if err != nil || !terminal.IsWebAddress(f.URL) {
		return nil, terminal.WrongUsage("--url %q needs http:// or https:// and a host, for example http://127.0.0.1:8080", f.URL)
	}
	if f.APIKey == "" {
		return nil, terminal.WrongUsage("there is no API key: pass one with --api-key or RECADO_API_KEY; `recado keys create --name NAME` creates one")
	}
	base := strings.TrimSuffix(strings.TrimRight(f.URL, "/"), "/api")
	transport := http.DefaultTransport.(*http.Transport).Clone()
	return client.New(
		base, f.APIKey, client.WithUserAgent("recado/"+t.Version),
		client.WithTimeout(f.Timeout), client.WithSendTimeout(fileFactor*f.Timeout),
		client.WithHTTPClient(&http.Client{Transport: t.Progress(transport, address.Host)}),
	), nil
}

// InstanceFlag names the instance.
type InstanceFlag struct {
	GatewayFlags
	Instance string `help:"Name or id of the instance; not needed if the key's scope has only one."`
}

// ProvideInstance connects, and finds the instance. Kong calls it for a Run method that takes an Instance.
func (f InstanceFlag) ProvideInstance(ctx context.Context, t terminal.Terminal) (Instance, error) {
	gateway, err := f.ProvideClient(t)
	if err != nil || uuid.Validate(f.Instance) == nil {
		return Instance{gateway, f.Instance}, err
	}
	found, err := FindInstance(ctx, gateway, f.Instance)
	return Instance{gateway, found.InstanceID}, err
}

// InstanceArgument is InstanceFlag for commands about the instance itself.
type InstanceArgument struct {
	GatewayFlags
	Instance string `arg:"" help:"Name or id of the instance."`
}

// ProvideInstance is that of InstanceFlag.
func (a InstanceArgument) ProvideInstance(ctx context.Context, t terminal.Terminal) (Instance, error) {
	return InstanceFlag(a).ProvideInstance(ctx, t)
}

// OnlyInstance is InstanceArgument for commands that need none if the key's scope has only one.
type OnlyInstance struct {
	GatewayFlags
	Instance string `arg:"" optional:"" help:"Name or id of the instance; not needed if the key's scope has only one." env:"RECADO_INSTANCE"`
}

// ProvideInstance is that of InstanceFlag.
func (o OnlyInstance) ProvideInstance(ctx context.Context, t terminal.Terminal) (Instance, error) {
	return InstanceFlag(o).ProvideInstance(ctx, t)
}

// Instance is an instance that a command works on, and the gateway that has it.
type Instance struct {
	Gateway *client.Client
	ID      string
}

// FindInstance finds an instance by its name or id; without one, it is the only one in the key's scope.
func FindInstance(ctx context.Context, c *client.Client, nameOrID string) (client.Instance, error) {
	if uuid.Validate(nameOrID) == nil {
		return c.GetInstance(ctx, nameOrID)
	}
	var found, others []client.Instance
	for instance, err := range c.Instances(ctx, client.ListInstancesParams{}) {
		switch {
		case err != nil:
			return client.Instance{}, err
		case instance.InstanceID == nameOrID:
			return instance, nil
		case instance.Name == nameOrID || nameOrID == "":
			found = append(found, instance)
		default:
			others = append(others, instance)
		}
	}
	switch {
	case len(found) == 1:
		return found[0], nil
	case len(found) > 1 && nameOrID == "":
		return client.Instance{}, terminal.WrongUsage("the instance is missing; in the scope of the key are %s", named(found))
	case len(found) > 1:
		return client.Instance{}, terminal.WrongUsage("%d instances are called %s, choose one by its id: %s", len(found), nameOrID, named(found))
	case len(others) > 0:
		return client.Instance{}, errors.New("the scope of the key has no instance " + nameOrID + ", but " + named(others))
	default:
		return client.Instance{}, errors.New("there is no instance in the scope of the key; create one with `recado instances create NAME`")
	}
}

// named lists some instances.
func named(instances []client.Instance) string {
	const most = 10
	names := make([]string, 0, most+1)
	for i, instance := range instances {
		if i == most {
			names = append(names, "…")
			break
		}
		names = append(names, instance.Name+" ("+instance.InstanceID+")")
	}
	return strings.Join(names, ", ")
}

// Given is the value of a flag as the field of a change; nil if the flag is empty.
func Given(flag string) *string {
	if flag == "" {
		return nil
	}
	return &flag
}

// OrNull is the value of a flag as the field of a change. An empty one is null, and a flag that was
// not given leaves the field as it is.
func OrNull(flag *string) client.Nullable[string] {
	if flag != nil && *flag == "" {
		return client.Null[string]()
	}
	return client.SetIf(flag)
}
