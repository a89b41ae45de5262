package whatsapp

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"go.mau.fi/whatsmeow"
	"go.mau.fi/whatsmeow/binary"
	"go.mau.fi/whatsmeow/proto/waE2E"
	"go.mau.fi/whatsmeow/types"
	"google.golang.org/protobuf/proto"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/whatsapp/keys"
)

// clientName is what the phone is told it is being linked to; the platform
// accepts only "Browser (System)" with names it knows.
const clientName = "Chrome (Linux)"

// platform codes that have a meaning of their own.
const (
	codeReachoutTimelock = 463 // writing to new contacts is restricted
	codeTooMany          = 429
)

// NewMessageID chooses an identifier (gateway.Session).
func (s *session) NewMessageID() string { return s.current().GenerateMessageID() }

// Send sends a message (gateway.Session).
func (s *session) Send(ctx context.Context, out gateway.Outgoing) (gateway.Sent, error) {
	to, err := toJID(out.Chat)
	if err != nil {
		return gateway.Sent{}, err
	}
	var message waE2E.Message
	if err := proto.Unmarshal(out.Payload, &message); err != nil {
		return gateway.Sent{}, fmt.Errorf("whatsapp: read payload: %w", err)
	}
	// One bound for all of it: whatsmeow has some of its own, of a minute and more,
	// for each question that it asks the platform on the way.
	ctx, cancel := context.WithTimeout(ctx, s.connector.config.SendTimeout)
	defer cancel()
	client := s.current()
	if err := s.checkRecipient(ctx, client, to); err != nil {
		return gateway.Sent{}, err
	}
	response, err := s.transmit(ctx, client, to, &message, out.PlatformID)
	if isNoGroup(err) {
		return gateway.Sent{}, noGroup()
	}
	if err != nil {
		return gateway.Sent{}, s.refusedRecipient(ctx, sendError(err), s.party(ctx, client, to))
	}
	s.watch(client, to)
	ctx = context.WithoutCancel(ctx) // the message is sent, however little of the time is left
	at := gateway.CleanTime(response.Timestamp.UTC(), s.connector.config.Now().UTC())
	return gateway.Sent{At: at, Chat: s.party(ctx, client, to)}, nil
}

// transmit hands a message to the platform.
func (s *session) transmit(
	ctx context.Context, client *whatsmeow.Client, to types.JID, message *waE2E.Message, id string,
) (response whatsmeow.SendResponse, err error) {
	err = keys.Send(ctx, func(ctx context.Context) error {
		response, err = client.SendMessage(ctx, to, message, whatsmeow.SendRequestExtra{
			ID: id, Timeout: s.connector.config.SendTimeout,
		})
		return err
	})
	return response, err
}

// checkRecipient refuses a person that the platform does not know: whatsmeow
// would send such a message to nobody, and call it sent. What it asks the
// platform is remembered, by us or by whatsmeow.
func (s *session) checkRecipient(ctx context.Context, client *whatsmeow.Client, to types.JID) error {
	lid := to
	switch to.Server {
	case types.GroupServer:
		return nil
	case types.DefaultUserServer:
		var err error
		if lid, err = client.Store.LIDs.GetLIDForPN(ctx, to); err != nil {
			return fmt.Errorf("whatsapp: look for the recipient's LID: %w", err)
		}
		if lid.IsEmpty() {
			answers, err := s.Resolve(ctx, []string{to.User})
			if err != nil {
				return err
			}
			if !answers[0].Exists || answers[0].LID == "" {
				return notRegistered()
			}
			if lid, err = toJID(answers[0].LID); err != nil {
				return err
			}
		}
	}
	devices, err := client.GetUserDevices(ctx, []types.JID{lid})
	if err != nil {
		return sendError(err)
	}
	if len(devices) == 0 {
		return notRegistered()
	}
	return nil
}

func notRegistered() error {
	return gateway.Errorf(gateway.Invalid, gateway.CodeNotRegistered, "the recipient has no account on the platform")
}

// party returns both addresses of a chat, as far as they are known by now.
func (s *session) party(ctx context.Context, client *whatsmeow.Client, chat types.JID) gateway.Party {
	if chat.Server == types.GroupServer {
		return partyOf(chat, types.EmptyJID, "")
	}
	other, err := client.Store.GetAltJID(ctx, chat)
	if err != nil {
		other = types.EmptyJID // it stays unknown for now; the message is sent
	}
	return partyOf(chat, other, "")
}

// Resolve asks which numbers have an account (gateway.Session).
func (s *session) Resolve(ctx context.Context, numbers []string) ([]gateway.Registration, error) {
	ctx, cancel := context.WithTimeout(ctx, s.connector.config.SendTimeout)
	defer cancel()
	answers, err := s.current().IsOnWhatsApp(ctx, numbers)
	if err != nil {
		return nil, sendError(err)
	}
	byNumber := make(map[string]gateway.Registration, len(answers))
	for _, answer := range answers {
		number := strings.TrimPrefix(answer.Query, "+")
		if !answer.IsIn {
			continue
		}
		party := partyOf(answer.JID, answer.PhoneNumber, "")
		byNumber[number] = gateway.Registration{Number: number, Exists: true, JID: party.JID, LID: party.LID}
	}
	registrations := make([]gateway.Registration, len(numbers))
	for i, number := range numbers {
		registration, ok := byNumber[number]
		if !ok {
			registration = gateway.Registration{Number: number}
		}
		registrations[i] = registration
	}
	return registrations, nil
}

// PairingCode asks for the characters to type (gateway.Session).
func (s *session) PairingCode(ctx context.Context, number string) (gateway.PairingCode, error) {
	ctx, cancel := context.WithTimeout(ctx, s.connector.config.SendTimeout)
	defer cancel()
	code, err := s.current().PairPhone(ctx, number, true, whatsmeow.PairClientChrome, clientName)
	if err != nil {
		return gateway.PairingCode{}, sendError(err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return gateway.PairingCode{Code: strings.ReplaceAll(code, "-", ""), ExpiresAt: s.codesEnd}, nil
}

// Logout ends the session on the platform and removes its keys
// (gateway.Session). It asks as whatsmeow's own Logout does, which deletes the
// keys while its goroutines still read them.
func (s *session) Logout(ctx context.Context) error {
	s.mu.Lock()
	device := s.device
	s.mu.Unlock()
	own, err := types.ParseJID(device)
	if err != nil {
		return fmt.Errorf("whatsapp: log out: %w", err)
	}
	_, err = s.current().DangerousInternals().SendIQ(ctx, whatsmeow.DangerousInfoQuery{ //nolint:staticcheck // the only way to ask without deleting; the version is pinned
		Namespace: "md",
		Type:      whatsmeow.DangerousInfoQueryType("set"),
		To:        types.ServerJID,
		Content: []binary.Node{{
			Tag:   "remove-companion-device",
			Attrs: binary.Attrs{"jid": own, "reason": "user_initiated"},
		}},
	})
	if err != nil {
		return fmt.Errorf("whatsapp: log out: %w", err)
	}
	s.Close()
	return s.connector.Forget(ctx, device)
}

// sendError says in the gateway's words why the platform did not do what it was
// asked.
func sendError(err error) error {
	switch {
	case errors.Is(err, whatsmeow.ErrNotConnected), errors.Is(err, whatsmeow.ErrNotLoggedIn):
		return gateway.Errorf(gateway.Conflict, gateway.CodeNotConnected, "the instance lost its connection; it reconnects by itself")
	case errors.Is(err, whatsmeow.ErrMessageTimedOut), errors.Is(err, whatsmeow.ErrIQTimedOut),
		errors.Is(err, context.DeadlineExceeded), isDisconnected(err):
		return gateway.Errorf(gateway.PlatformTimeout, gateway.CodePlatformTimeout, "the platform did not acknowledge in time")
	}
	code, ok := platformCode(err)
	if !ok {
		return fmt.Errorf("whatsapp: %w", err)
	}
	switch code {
	case codeReachoutTimelock:
		return gateway.Errorf(gateway.RateLimited, gateway.CodeRecipientRestricted,
			"the platform restricts this account from writing to new contacts (code %d)", code)
	case codeTooMany:
		return gateway.Errorf(gateway.RateLimited, gateway.CodeRateLimited, "the platform asks for fewer requests (code %d)", code)
	default:
		return gateway.Errorf(gateway.PlatformFailed, gateway.CodePlatformError, "the platform refused (code %d)", code)
	}
}

func isDisconnected(err error) bool {
	_, ok := errors.AsType[*whatsmeow.DisconnectedError](err)
	return ok
}

// platformCode finds the platform's code in an error of whatsmeow.
func platformCode(err error) (int, bool) {
	if iq, ok := errors.AsType[*whatsmeow.IQError](err); ok {
		return iq.Code, true
	}
	if !errors.Is(err, whatsmeow.ErrServerReturnedError) {
		return 0, false
	}
	// The refusal of a message carries its code in the text alone.
	text := err.Error()
	code, convErr := strconv.Atoi(text[strings.LastIndexByte(text, ' ')+1:])
	return code, convErr == nil
}
