package cli

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/recado-project/recado/client"
	"github.com/recado-project/recado/internal/cli/terminal"
)

// gatewayFlags name the gateway to call, and the key.
type gatewayFlags struct {
	URL     string        `help:"Address of the gateway." default:"http://127.0.0.1:8080"`
	APIKey  string        `help:"API key; required. Use the variable to keep it out of the process list." name:"api-key"`
	Timeout time.Duration `help:"How long to wait for an answer; a message with a file gets ten times as long." default:"45s"`
}

// fileFactor is how much longer a call may take that waits for the platform or carries
// a file.
const fileFactor = 10

// connect makes the client of the gateway without calling it. Its error is a usage
// error.
func (f gatewayFlags) connect(t terminal.Terminal) (*client.Client, error) {
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
		base, f.APIKey, client.WithUserAgent("recado/"+version()),
		client.WithTimeout(f.Timeout), client.WithSendTimeout(fileFactor*f.Timeout),
		client.WithHTTPClient(&http.Client{Transport: t.Progress(transport, address.Host)}),
	), nil
}

// instanceFlag names the instance.
type instanceFlag struct {
	gatewayFlags
	Instance string `help:"Name or id of the instance; not needed if the key's scope has only one."`
}

// open connects, and finds the instance.
func (f instanceFlag) open(ctx context.Context, t terminal.Terminal) (*client.Client, string, error) {
	c, err := f.connect(t)
	if err != nil {
		return nil, "", err
	}
	id, err := instanceID(ctx, c, f.Instance)
	return c, id, err
}

// instanceArgument is instanceFlag for commands about the instance itself.
type instanceArgument struct {
	gatewayFlags
	Instance string `arg:"" help:"Name or id of the instance."`
}

// open connects, and finds the instance.
func (a instanceArgument) open(ctx context.Context, t terminal.Terminal) (*client.Client, string, error) {
	return instanceFlag(a).open(ctx, t)
}

// instanceID is the id of the instance with a name or id; if that is empty, of the only
// one in the key's scope.
func instanceID(ctx context.Context, c *client.Client, nameOrID string) (string, error) {
	if uuid.Validate(nameOrID) == nil {
		return nameOrID, nil
	}
	instance, err := findInstance(ctx, c, nameOrID)
	return instance.InstanceID, err
}

// findInstance finds an instance by its name or id.
func findInstance(ctx context.Context, c *client.Client, nameOrID string) (client.Instance, error) {
	if uuid.Validate(nameOrID) == nil {
		return c.Instance(ctx, nameOrID)
	}
	var found, others []client.Instance
	for instance, err := range c.Instances(ctx) {
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
		return client.Instance{}, terminal.WrongUsage("--instance is missing; in the scope of the key are %s", named(found))
	case len(found) > 1:
		return client.Instance{}, terminal.WrongUsage("%d instances are called %s, choose one by its id: %s", len(found), nameOrID, named(found))
	case len(others) > 0:
		return client.Instance{}, notFoundError("the scope of the key has no instance " + nameOrID + ", but " + named(others))
	default:
		return client.Instance{}, notFoundError("there is no instance in the scope of the key; create one with `recado instances create NAME`")
	}
}

// notFoundError says that there is no instance of that name.
type notFoundError string

// Error returns a text for people.
func (e notFoundError) Error() string { return string(e) }

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
