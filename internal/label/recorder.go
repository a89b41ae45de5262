// What the account's owner does with labels, here or on another device, is kept and reported.

package label

import (
	"context"
	"errors"
	"fmt"

	"github.com/recado-project/recado/internal/eventlog"
	"github.com/recado-project/recado/internal/gateway"
)

// RecorderStore keeps labels, with the events of them.
type RecorderStore interface {
	ChangeLabel(ctx context.Context, instanceID string, change gateway.LabelChange, report func(gateway.Label) (eventlog.Event, error)) error
	ArrangeLabels(ctx context.Context, instanceID string, changes []gateway.LabelChange) error
}

// Recorder keeps labels. It is safe for concurrent use.
type Recorder struct{ store RecorderStore }

// NewRecorder makes the recorder of all instances.
func NewRecorder(store RecorderStore) (*Recorder, error) {
	if store == nil {
		return nil, errors.New("label: the recorder needs a store")
	}
	return &Recorder{store}, nil
}

// Keep keeps what was done with a label, and appends its event if something is different then.
// A second time it changes nothing.
func (k *Recorder) Keep(ctx context.Context, instanceID string, change gateway.LabelChange) error {
	err := k.store.ChangeLabel(ctx, instanceID, change, func(label gateway.Label) (eventlog.Event, error) {
		if change.Act == gateway.LabelSet || change.Act == gateway.LabelDeleted {
			return eventlog.NewEvent(instanceID, "", "", change.At, eventlog.NewLabelUpdated(label, change.Act))
		}
		return eventlog.NewEvent(instanceID, change.Chat.Key(), "", change.At, eventlog.NewLabelAssigned(label, change))
	})
	if err != nil {
		return fmt.Errorf("label: keep a change: %w", err)
	}
	return nil
}

// Arrange keeps what labels there were before this device was told. It causes no events.
func (k *Recorder) Arrange(ctx context.Context, instanceID string, changes []gateway.LabelChange) error {
	if err := k.store.ArrangeLabels(ctx, instanceID, changes); err != nil {
		return fmt.Errorf("label: keep the labels: %w", err)
	}
	return nil
}
