package baileys

import (
	"crypto/rand"
	"encoding/json"
	"strconv"
	"testing"

	grouprecord "go.mau.fi/libsignal/groups/state/record"
	wastore "go.mau.fi/whatsmeow/store"
)

func senderKeyOf(structure *grouprecord.SenderKeyStructure) (*grouprecord.SenderKey, error) {
	s := wastore.SignalProtobufSerializer
	return grouprecord.NewSenderKeyFromStruct(structure, s.SenderKeyRecord, s.SenderKeyState)
}

// senderKeyFields are the states of a record of libsignal's under Baileys' names, with
// bytes as []byte, the newest last.
func senderKeyFields(t *testing.T, record []byte) (states []fields) {
	t.Helper()
	structure, err := wastore.SignalProtobufSerializer.SenderKeyRecord.Deserialize(record)
	check(t, err)
	for _, state := range structure.SenderKeyStates {
		kept := []any{}
		for _, key := range state.Keys {
			kept = append(kept, fields{"iteration": key.Iteration, "seed": key.Seed})
		}
		states = append([]fields{{
			"senderKeyId":       state.KeyID,
			"senderChainKey":    fields{"iteration": state.SenderChainKey.Iteration, "seed": state.SenderChainKey.ChainKey},
			"senderSigningKey":  fields{"public": state.SigningKeyPublic, "private": state.SigningKeyPrivate},
			"senderMessageKeys": kept,
		}}, states...)
	}
	return states
}

// olderSenderKey is a key that nothing is encrypted with any more.
func olderSenderKey(t *testing.T) fields {
	t.Helper()
	random := make([]byte, 32)
	_, err := rand.Read(random)
	check(t, err)
	return fields{
		"senderKeyId": 1, "senderChainKey": fields{"iteration": 3, "seed": random},
		"senderSigningKey": fields{"public": random}, "senderMessageKeys": []any{},
	}
}

// withBytes is a value with other bytes in it.
func withBytes(value any, write func([]byte) any) any {
	switch value := value.(type) {
	case []byte:
		return write(value)
	case fields:
		changed := fields{}
		for name, inside := range value {
			changed[name] = withBytes(inside, write)
		}
		return changed
	case []fields:
		changed := []any{}
		for _, inside := range value {
			changed = append(changed, withBytes(inside, write))
		}
		return changed
	case []any:
		changed := []any{}
		for _, inside := range value {
			changed = append(changed, withBytes(inside, write))
		}
		return changed
	default:
		return value
	}
}

func encoded(t *testing.T, value any) []byte {
	t.Helper()
	written, err := json.Marshal(value)
	check(t, err)
	return written
}

func numbers(content []byte) []int {
	list := make([]int, len(content))
	for n, value := range content {
		list[n] = int(value)
	}
	return list
}

// inBuffer writes a list in a buffer, whose own buffers are lists of numbers.
func inBuffer(t *testing.T, states []fields) []byte {
	t.Helper()
	list := encoded(t, withBytes(states, func(content []byte) any { return fields{"type": "Buffer", "data": numbers(content)} }))
	return encoded(t, fields{"type": "Buffer", "data": base64Of(list)})
}

// inList writes a list of buffers.
func inList(t *testing.T, states []fields) []byte {
	t.Helper()
	return encoded(t, withBytes(states, func(content []byte) any { return fields{"type": "Buffer", "data": base64Of(content)} }))
}

// inTexts writes bytes as texts.
func inTexts(t *testing.T, states []fields) []byte {
	t.Helper()
	return encoded(t, withBytes(states, func(content []byte) any { return base64Of(content) }))
}

// inPlaces writes bytes as JavaScript writes typed arrays.
func inPlaces(t *testing.T, states []fields) []byte {
	t.Helper()
	return encoded(t, withBytes(states, func(content []byte) any {
		text := "{"
		for n, value := range content {
			if n > 0 {
				text += ","
			}
			text += strconv.Quote(strconv.Itoa(n)) + ":" + strconv.Itoa(int(value))
		}
		return json.RawMessage(text + "}")
	}))
}
