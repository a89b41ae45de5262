// Package label holds the use cases of labels: which there are, and which chats and messages
// have them. Reading asks the platform nothing.
package label

import (
	"context"
	"fmt"
	"time"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/keylock"
	"github.com/recado-project/recado/internal/required"
)

// Store finds labels.
type Store interface {
	ListLabels(ctx context.Context, instanceID string, page gateway.PageRequest) (gateway.Page[gateway.Label], error)
	FindLabel(ctx context.Context, instanceID, id string) (gateway.Label, bool, error)
	FreeLabelID(ctx context.Context, instanceID string) (string, error)
}

// Chats finds chats and messages.
type Chats interface {
	Find(ctx context.Context, instanceID string, with gateway.Recipient) (gateway.Chat, error)
	Message(ctx context.Context, instanceID string, ref gateway.MessageRef) (gateway.Message, error)
}

// Config is what the service stands on. All of it is required.
type Config struct {
	Store    Store
	Chats    Chats
	Sessions gateway.Sessions
	Recorder *Recorder
	Now      func() time.Time
}

// Service carries out the use cases. It is safe for concurrent use. Besides the errors that a
// method names, those that change something may return Conflict, PlatformFailed and
// PlatformTimeout.
type Service struct {
	config Config
	naming keylock.Locks // of an instance, while an ID is chosen: a phone would take two labels for one
}

// New makes the service.
func New(config Config) (*Service, error) {
	if err := required.Check("label", config); err != nil {
		return nil, err
	}
	return &Service{config: config}, nil
}

// List returns a page of the labels of an instance, in the order of their IDs.
func (s *Service) List(ctx context.Context, instanceID string, page gateway.PageRequest) (gateway.Page[gateway.Label], error) {
	found, err := s.config.Store.ListLabels(ctx, instanceID, page)
	if err != nil {
		return found, fmt.Errorf("label: list labels: %w", err)
	}
	return found, nil
}

// Get returns a label. Its error is NotFound.
func (s *Service) Get(ctx context.Context, instanceID, id string) (gateway.Label, error) {
	label, found, err := s.config.Store.FindLabel(ctx, instanceID, id)
	if err != nil {
		return label, fmt.Errorf("label: find a label: %w", err)
	}
	if !found {
		return label, gateway.Errorf(gateway.NotFound, gateway.CodeLabelNotFound, "the instance has no label with this ID")
	}
	return label, nil
}

// Create makes a label, on all devices of the account. Its error is Conflict if there are
// gateway.MaxLabels.
func (s *Service) Create(ctx context.Context, instanceID, name string, color int) (gateway.Label, error) {
	unlock, err := s.naming.Lock(ctx, instanceID)
	if err != nil {
		return gateway.Label{}, err
	}
	defer unlock()
	page, err := s.List(ctx, instanceID, gateway.PageRequest{Page: 1, Limit: 1})
	if err != nil {
		return gateway.Label{}, err
	}
	if page.Total >= gateway.MaxLabels {
		return gateway.Label{}, gateway.Errorf(gateway.Conflict, gateway.CodeLabelRefused, "the account has %d labels: delete one first", page.Total)
	}
	id, err := s.config.Store.FreeLabelID(ctx, instanceID)
	if err != nil {
		return gateway.Label{}, fmt.Errorf("label: choose an ID: %w", err)
	}
	label := gateway.Label{ID: id, Name: name, Color: color}
	return label, s.change(ctx, instanceID, gateway.LabelChange{Act: gateway.LabelSet, Label: label})
}

// Change changes a label, on all devices of the account; what is nil stays as it is. Its error
// is NotFound if the label does not exist.
func (s *Service) Change(ctx context.Context, instanceID, id string, name *string, color *int) (gateway.Label, error) {
	label, err := s.Get(ctx, instanceID, id)
	if err != nil {
		return label, err
	}
	if name != nil {
		label.Name = *name
	}
	if color != nil {
		label.Color = *color
	}
	return label, s.change(ctx, instanceID, gateway.LabelChange{Act: gateway.LabelSet, Label: label})
}

// Delete deletes a label, on all devices of the account. No chat and no message has it then.
// Its error is NotFound if the label does not exist.
func (s *Service) Delete(ctx context.Context, instanceID, id string) error {
	label, err := s.Get(ctx, instanceID, id)
	if err != nil {
		return err
	}
	return s.change(ctx, instanceID, gateway.LabelChange{Act: gateway.LabelDeleted, Label: label})
}

// AssignToChat puts a label on a chat, on all devices of the account, or takes it away; where
// it is there already, or not there, nothing changes. Its error is NotFound if the label or the
// chat does not exist.
func (s *Service) AssignToChat(ctx context.Context, instanceID, id string, with gateway.Recipient, on bool) error {
	label, err := s.Get(ctx, instanceID, id)
	if err != nil {
		return err
	}
	found, err := s.config.Chats.Find(ctx, instanceID, with)
	if err != nil {
		return err
	}
	return s.change(ctx, instanceID, gateway.LabelChange{Act: act(on), Label: label, Chat: found.Party})
}

// AssignToMessage puts a label on a message, or takes it away, as AssignToChat does.
func (s *Service) AssignToMessage(ctx context.Context, instanceID, id string, ref gateway.MessageRef, on bool) error {
	label, err := s.Get(ctx, instanceID, id)
	if err != nil {
		return err
	}
	found, err := s.config.Chats.Message(ctx, instanceID, ref)
	if err != nil {
		return err
	}
	// A message may have been kept before both addresses of its chat were known.
	in, err := s.config.Chats.Find(ctx, instanceID, gateway.Recipient{Chat: found.Chat.Key()})
	if err != nil {
		return err
	}
	return s.change(ctx, instanceID, gateway.LabelChange{Act: act(on), Label: label, Chat: in.Party, MessageID: found.PlatformID})
}

func act(on bool) gateway.LabelAct {
	if on {
		return gateway.LabelPut
	}
	return gateway.LabelTaken
}

func (s *Service) change(ctx context.Context, instanceID string, change gateway.LabelChange) error {
	session, err := s.config.Sessions.Session(ctx, instanceID)
	if err != nil {
		return err
	}
	if err := session.Chats().ChangeLabel(ctx, change); err != nil {
		return err
	}
	change.At = s.config.Now().UTC()
	// The other devices have it already, whether or not the client still waits.
	return s.config.Recorder.Keep(context.WithoutCancel(ctx), instanceID, change)
}
