// How a gateway and its instances are doing, and what to do about it.

package cli

import (
	"context"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/recado-project/recado/client"
	"github.com/recado-project/recado/internal/cli/remote"
	"github.com/recado-project/recado/internal/cli/terminal"
)

// statusCommand looks at the gateway, or at one instance.
type statusCommand struct {
	remote.GatewayFlags
	Instance string `arg:"" optional:"" help:"Name or id of an instance; without one, the gateway and all instances in the scope of the key."`
}

// Run prints what it finds on one screen.
func (c statusCommand) Run(ctx context.Context, t terminal.Terminal, gateway *client.Client) error {
	if c.Instance == "" {
		return c.ofGateway(ctx, t, gateway)
	}
	return ofInstance(ctx, t, gateway, c.Instance)
}

const (
	// maxLookedAt bounds the instances whose webhooks are looked at: each costs some requests.
	maxLookedAt = 100
	// linesAtMost is how many instances or webhooks are named below their number.
	linesAtMost = 8
)

// gatewayStatus is how a gateway is doing.
type gatewayStatus struct {
	URL           string               `json:"url"`
	Version       string               `json:"version"`
	ClientVersion client.ClientVersion `json:"clientVersion"`
	Instances     map[string]int       `json:"instances"` // how many have a status
	ToDo          []todo               `json:"toDo"`
	// BehindWebhooks are those among the webhooks of the first instances that are late with their events.
	BehindWebhooks []remote.WebhookState `json:"behindWebhooks"`
	LookedAt       int                   `json:"webhooksOfInstances"` // how many instances these are
}

// todo is what somebody should do about an instance.
type todo struct {
	InstanceID string `json:"instanceId"`
	Name       string `json:"name"`
	Status     string `json:"status"`
	Do         string `json:"do"`
}

// ofGateway prints how the gateway and all instances are doing.
func (c statusCommand) ofGateway(ctx context.Context, t terminal.Terminal, gateway *client.Client) error {
	ready, err := gateway.GetReadiness(ctx)
	if err != nil {
		return err
	}
	found := gatewayStatus{
		URL: c.URL, Version: ready.Version, ClientVersion: ready.ClientVersion,
		Instances: map[string]int{}, ToDo: []todo{}, BehindWebhooks: []remote.WebhookState{}, // never null
	}
	for one, err := range gateway.Instances(ctx, client.ListInstancesParams{}) {
		if err != nil {
			return err
		}
		found.Instances[one.Status]++
		if do := nextStep(one); do != "" {
			found.ToDo = append(found.ToDo, todo{one.InstanceID, one.Name, one.Status, do})
		}
		if found.LookedAt == maxLookedAt {
			continue
		}
		found.LookedAt++
		states, err := remote.WebhookStates(ctx, remote.Instance{Gateway: gateway, ID: one.InstanceID})
		if err != nil {
			return err
		}
		for _, state := range states {
			if state.Behind(t.Now()) {
				found.BehindWebhooks = append(found.BehindWebhooks, state)
			}
		}
	}
	return t.Fields(found, found.lines()...)
}

// lines shows it to people.
func (s gatewayStatus) lines() []terminal.Pair {
	lines := []terminal.Pair{{"gateway", s.URL + " answers, and can serve requests"}, {"version", s.Version}}
	if since := s.ClientVersion.RefusedSince; since != nil {
		lines = append(lines, terminal.Pair{"platform", "refuses web client " + s.ClientVersion.Version + " since " + terminal.Moment(*since)})
	}
	total, by := 0, []string{}
	for _, status := range slices.Sorted(maps.Keys(s.Instances)) {
		total += s.Instances[status]
		by = append(by, fmt.Sprintf("%d %s", s.Instances[status], status))
	}
	switch total {
	case 0:
		lines = append(lines, terminal.Pair{"instances", "none; make one: recado instances create NAME"})
	default:
		lines = append(lines, terminal.Pair{"instances", fmt.Sprintf("%d: %s", total, strings.Join(by, ", "))})
	}
	lines = append(lines, firstOf(s.ToDo, func(one todo) terminal.Pair {
		return terminal.Pair{"to do", fmt.Sprintf("%s is %s: %s", one.Name, one.Status, one.Do)}
	})...)
	webhooks := "none is behind"
	if n := len(s.BehindWebhooks); n > 0 {
		webhooks = strconv.Itoa(n) + " behind"
	}
	if s.LookedAt < total {
		webhooks += fmt.Sprintf(", of the first %d instances", s.LookedAt)
	}
	lines = append(lines, terminal.Pair{"webhooks", webhooks})
	return append(lines, firstOf(s.BehindWebhooks, func(one remote.WebhookState) terminal.Pair {
		return terminal.Pair{"behind", one.String()}
	})...)
}

// firstOf shows the first of some things, and how many more there are.
func firstOf[T any](all []T, show func(T) terminal.Pair) []terminal.Pair {
	var lines []terminal.Pair
	for i, one := range all {
		line := show(one)
		if i == linesAtMost {
			return append(lines, terminal.Pair{line[0], fmt.Sprintf("and %d more", len(all)-i)})
		}
		lines = append(lines, line)
	}
	return lines
}

// instanceStatus is how an instance is doing.
type instanceStatus struct {
	Instance        client.Instance       `json:"instance"`
	WaitingMessages int64                 `json:"waitingMessages"`
	Webhooks        []remote.WebhookState `json:"webhooks"`
	Do              string                `json:"do"`
}

// ofInstance prints how an instance is doing.
func ofInstance(ctx context.Context, t terminal.Terminal, gateway *client.Client, nameOrID string) error {
	instance, err := remote.FindInstance(ctx, gateway, nameOrID)
	if err != nil {
		return err
	}
	limits, err := gateway.GetLimits(ctx, instance.InstanceID)
	if err != nil {
		return err
	}
	states, err := remote.WebhookStates(ctx, remote.Instance{Gateway: gateway, ID: instance.InstanceID})
	if err != nil {
		return err
	}
	found := instanceStatus{instance, limits.Pace.Waiting, states, nextStep(instance)}
	return t.Fields(found, found.lines()...)
}

// lines shows it to people.
func (s instanceStatus) lines() []terminal.Pair {
	one := s.Instance
	lines := []terminal.Pair{
		{"instance", one.Name + " (" + one.InstanceID + ")"},
		{"status", one.Status},
		{"changed", terminal.Moment(one.UpdatedAt)}, // of the status or a setting
		{"account", strings.TrimSpace(one.MessengerID + " " + one.MessengerName)},
		{"proxy problem", one.ProxyProblem},
	}
	if !one.RestrictedUntil.IsZero() {
		lines = append(lines, terminal.Pair{"restricted", "the platform lets it write to nobody new until " + terminal.Moment(one.RestrictedUntil)})
	}
	lines = append(lines, terminal.Pair{"queue", waiting(s.WaitingMessages)})
	if len(s.Webhooks) == 0 {
		lines = append(lines, terminal.Pair{"webhook", "none; set one: recado webhooks set --instance " + named(one) + " URL"})
	}
	for _, webhook := range s.Webhooks {
		lines = append(lines, terminal.Pair{"webhook", webhook.String()})
	}
	return append(lines, terminal.Pair{"to do", s.Do})
}

// waiting says how many messages are in a queue.
func waiting(messages int64) string {
	switch messages {
	case 0:
		return "no message waits to be sent"
	case 1:
		return "1 message waits to be sent"
	default:
		return fmt.Sprintf("%d messages wait to be sent", messages)
	}
}

// nextStep says what somebody should do about an instance, as a command where there is one; empty if nothing.
func nextStep(one client.Instance) string {
	switch one.Status {
	case client.StatusCreated, client.StatusQRTimeout, client.StatusPendingQRCodeScan:
		return "recado qr " + named(one)
	case client.StatusStopped, client.StatusManuallyStopped, client.StatusError:
		if one.MessengerID == "" {
			return "recado qr " + named(one)
		}
		return "recado instances restart " + named(one)
	}
	return ""
}

// plainName is a name that a shell takes as it is.
var plainName = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9._-]*$`)

// named is what names an instance in a command that can be pasted.
func named(one client.Instance) string {
	if plainName.MatchString(one.Name) {
		return one.Name
	}
	return one.InstanceID
}
