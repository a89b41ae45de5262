package wire

import (
	"fmt"

	"go.mau.fi/whatsmeow/proto/waE2E"
	"google.golang.org/protobuf/proto"

	"github.com/recado-project/recado/internal/gateway"
)

// Decode reads the payload of a message, wrapped as it may be. Its error is NotFound: one that is
// damaged is not there any more.
func Decode(payload []byte) (*waE2E.Message, error) {
	var message waE2E.Message
	if err := proto.Unmarshal(payload, &message); err != nil {
		return nil, gateway.Errorf(gateway.NotFound, gateway.CodeMessageNotFound, "what is kept of the message is damaged and can't be read (%v)", err)
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
