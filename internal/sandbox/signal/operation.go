// One use of libsignal, with the records that it reads and writes.

package signal

import (
	"context"
	"errors"
	"fmt"

	"go.mau.fi/libsignal/serialize"
)

var errPanic = errors.New("signal: malformed input")

// operation is one call of a Device. It reads from the store, collects the changes,
// and applies them at the end.
type operation struct {
	keys    Keys
	store   Store
	formats *serialize.Serializer

	changes []Change
	index   map[recordName]int // into changes
	failure error              // the store's own, however libsignal wrapped it
}

// run does one operation. It applies the changes of do only if do succeeds.
func (d *Device) run(ctx context.Context, do func(*operation) error) error {
	op := &operation{keys: d.keys, store: d.store, formats: serialize.NewProtoBufSerializer(), index: map[recordName]int{}}
	if err := op.guard(do); err != nil {
		if op.failure != nil {
			return op.failure
		}
		return err
	}
	if len(op.changes) == 0 {
		return nil
	}
	if err := d.store.Apply(ctx, op.changes); err != nil {
		return fmt.Errorf("signal: apply changes: %w", err)
	}
	return nil
}

// guard turns a panic into an error. libsignal does not check the length of keys in
// a message, nor that a ciphertext consists of whole blocks, so that a malicious
// message makes it index out of range.
func (o *operation) guard(do func(*operation) error) (err error) {
	defer func() {
		if cause := recover(); cause != nil {
			err = fmt.Errorf("%w: %v", errPanic, cause)
		}
	}()
	return do(o)
}

func (o *operation) load(ctx context.Context, kind Kind, key string) ([]byte, error) {
	if i, ok := o.index[recordName{kind, key}]; ok {
		return o.changes[i].Value, nil
	}
	value, err := o.store.Load(ctx, kind, key)
	if err != nil {
		o.failure = fmt.Errorf("signal: load %s: %w", kind, err)
		return nil, o.failure
	}
	return value, nil
}

// put sets a record, or deletes it if the value is nil.
func (o *operation) put(kind Kind, key string, value []byte) {
	name := recordName{kind, key}
	if i, ok := o.index[name]; ok {
		o.changes[i].Value = value
		return
	}
	o.index[name] = len(o.changes)
	o.changes = append(o.changes, Change{kind, key, value})
}
