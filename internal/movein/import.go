// Devices of another program become instances.

package movein

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/store"
	"github.com/recado-project/recado/internal/whatsapp/keys"
)

// Result is what became of a device of the source, or would become of it.
type Result struct {
	Number     string `json:"number"`
	Name       string `json:"name"`     // of the instance
	Sessions   int    `json:"sessions"` // Signal sessions with other devices
	SenderKeys int    `json:"senderKeys"`
	// UnreadableSessions were left out. The next message makes new ones.
	UnreadableSessions int    `json:"unreadableSessions"`
	InstanceID         string `json:"instanceId,omitempty"`
	Problem            string `json:"problem,omitempty"` // why it did not come; empty if it did
}

// State is the result for people, in a few words.
func (r Result) State() string {
	state := r.InstanceID
	switch {
	case r.Problem != "":
		return r.Problem
	case state == "":
		state = "would come"
	}
	if r.UnreadableSessions > 0 {
		state += fmt.Sprintf("; sessions that can't be read and were left out: %d", r.UnreadableSessions)
	}
	return state
}

type moving struct {
	from      foreign
	store     *store.Store // nil: nothing is written
	accountID string       // of the new instances
	now       func() time.Time

	here  map[string]gateway.Instance // by device
	names map[string]bool             // of the account's instances
}

// all moves all devices, and calls report after each.
func (m *moving) all(ctx context.Context, report func(Result)) error {
	devices, err := m.from.Devices(ctx)
	if err != nil {
		return err
	}
	if len(devices) == 0 {
		return errors.New("there is no linked device in it")
	}
	if m.store != nil {
		if err := m.look(ctx); err != nil {
			return err
		}
		if err := keys.CopyPairs(ctx, m.store.Devices, m.from.Pairs); err != nil {
			return err
		}
	}
	for _, id := range devices {
		result, err := m.move(ctx, id)
		if err != nil {
			return err
		}
		report(result)
	}
	return nil
}

// look lists the instances that there are already.
func (m *moving) look(ctx context.Context) error {
	all, err := m.store.AllInstances(ctx)
	if err != nil {
		return err
	}
	for _, instance := range all {
		if instance.Linked() {
			m.here[instance.Device] = instance
		}
		if instance.AccountID == m.accountID {
			m.names[instance.Name] = true
		}
	}
	return nil
}

// move moves one device. An error ends the import.
func (m *moving) move(ctx context.Context, id string) (Result, error) {
	device, err := m.from.Device(ctx, id)
	if ctx.Err() != nil {
		return Result{}, ctx.Err()
	}
	if inUse, ok := errors.AsType[*InUseError](err); ok {
		return Result{}, inUse
	}
	if err != nil {
		number := id
		if user, _, isJID := strings.Cut(id, "@"); isJID {
			user, _, _ = strings.Cut(user, ":")
			number, _, _ = strings.Cut(user, ".")
		}
		why := strings.TrimPrefix(strings.TrimPrefix(err.Error(), "keys: "), "baileys: ")
		return Result{Number: number, Problem: "it can't be read: " + why}, nil
	}
	result := Result{
		Number: numberOf(device.Profile), Name: m.name(device),
		Sessions: device.Sessions, SenderKeys: device.SenderKeys, UnreadableSessions: device.Unreadable,
	}
	if device.PreKeys == 0 {
		result.Problem = "it has no prekeys: its keys are kept somewhere else"
		return result, nil
	}
	if here, ok := m.here[device.Device]; ok {
		result.Name = here.Name
		result.Problem = fmt.Sprintf("it is here already, as the instance %s (%s)", here.Name, here.ID)
		return result, nil
	}
	m.names[result.Name] = true
	if m.store == nil {
		return result, nil
	}
	result.InstanceID, err = m.create(ctx, device, result.Name)
	return result, err
}

// create writes the keys first: the next attempt replaces keys without an instance.
func (m *moving) create(ctx context.Context, device keys.ForeignDevice, name string) (id string, err error) {
	made, err := uuid.NewV7()
	if err != nil {
		return "", fmt.Errorf("choose an id: %w", err)
	}
	if _, err := m.store.Devices.AddDevice(ctx, device.Device, device.Rows); err != nil {
		return "", err
	}
	now := m.now().UTC()
	instance := gateway.Instance{
		ID: made.String(), AccountID: m.accountID, Name: name, Device: device.Device, Profile: device.Profile,
		Status:    gateway.StatusConnecting, // the next start of the gateway connects it
		CreatedAt: now, UpdatedAt: now,
	}
	if err := m.store.CreateInstance(ctx, instance); err != nil {
		return "", err
	}
	m.here[device.Device] = instance
	return instance.ID, nil
}

// name is the name of a new instance: the one that the device has in the other program, or
// that of its account, if nothing else is called so.
func (m *moving) name(device keys.ForeignDevice) string {
	number := numberOf(device.Profile)
	name := cmp.Or(gateway.CleanName(device.Name), device.Profile.Name)
	switch {
	case name == "":
		return number
	case m.names[name]:
		return name + " " + number
	default:
		return name
	}
}

func numberOf(profile gateway.Profile) string {
	number, _, _ := strings.Cut(string(profile.JID), "@")
	return number
}
