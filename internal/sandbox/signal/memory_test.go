package signal

import "context"

// memory is a Store in memory. It is not safe for concurrent use.
type memory struct {
	records map[recordName][]byte
}

// newMemory returns an empty memory.
func newMemory() *memory { return &memory{records: map[recordName][]byte{}} }

// Load returns the record, nil if there is none. It cannot fail.
func (m *memory) Load(_ context.Context, kind Kind, key string) ([]byte, error) {
	return m.records[recordName{kind, key}], nil
}

// Apply makes all changes. It cannot fail.
func (m *memory) Apply(_ context.Context, changes []Change) error {
	for _, change := range changes {
		name := recordName{change.Kind, change.Key}
		if change.Value == nil {
			delete(m.records, name)
			continue
		}
		m.records[name] = change.Value
	}
	return nil
}
