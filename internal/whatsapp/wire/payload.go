package wire

import (
	"fmt"

	"go.mau.fi/whatsmeow/proto/waE2E"
	"google.golang.org/protobuf/proto"
)

// Decode reads the payload of a message, wrapped as it may be.
func Decode(payload []byte) (*waE2E.Message, error) {
	var message waE2E.Message
	if err := proto.Unmarshal(payload, &message); err != nil {
		return nil, fmt.Errorf("wire: read payload: %w", err)
	}
	return &message, nil
}

func encode(message *waE2E.Message) ([]byte, error) {
	payload, err := proto.Marshal(message)
	if err != nil {
		return nil, fmt.Errorf("wire: write payload: %w", err)
	}
	return payload, nil
}
