package api

import (
	"context"
	"net/http"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/instance"
)

const tagInstances = "Instances"

// Instance is an instance as answers show it.
type Instance struct {
	InstanceID     string    `json:"instanceId" format:"uuid" doc:"Identifier of the instance." example:"019aa1f4-5b0c-7e43-9d1f-6a1f2f6f3b11"`
	Name           string    `json:"name" example:"Support"`
	Status         string    `json:"status" enum:"created,connecting,pending_qr_code_scan,connected,stopped,manually_stopped,error,qr_timeout,payment_pending" example:"connected"`
	MessengerJID   string    `json:"messengerJid" doc:"Personal chat ID of the linked account; empty where nothing is linked, as all messenger fields." example:"5511999990000@s.whatsapp.net"`
	MessengerLID   string    `json:"messengerLid" doc:"LID of the linked account." example:"123456789012345@lid"`
	MessengerID    string    `json:"messengerId" doc:"Digits of the linked account." example:"5511999990000"`
	MessengerName  string    `json:"messengerName" doc:"Display name of the linked account." example:"Ana"`
	MessengerImage string    `json:"messengerProfilePicUrl" doc:"URL of the profile picture." example:""`
	CreatedAt      Timestamp `json:"createdAt"`
	UpdatedAt      Timestamp `json:"updatedAt"`
}

func newInstance(shown gateway.Instance) Instance {
	return Instance{
		InstanceID:     shown.ID,
		Name:           shown.Name,
		Status:         string(shown.Status),
		MessengerJID:   string(shown.Profile.JID),
		MessengerLID:   string(shown.Profile.LID),
		MessengerID:    shown.Profile.JID.User(),
		MessengerName:  shown.Profile.Name,
		MessengerImage: shown.Profile.PictureURL,
		CreatedAt:      Timestamp(shown.CreatedAt),
		UpdatedAt:      Timestamp(shown.UpdatedAt),
	}
}

// InstancePath is the path parameter of every operation on an instance. The gate
// has read it; here it is for the document.
type InstancePath struct {
	InstanceID string `path:"instanceId" doc:"Identifier of the instance." example:"019aa1f4-5b0c-7e43-9d1f-6a1f2f6f3b11"`
}

// Empty is the answer {}.
type Empty struct{}

// nothing is an answer without fields.
type nothing = answer[Empty]

// answer is an answer with a body.
type answer[T any] struct {
	Body T
}

// QRCode is what a phone scans.
type QRCode struct {
	InstanceID string `json:"instanceId" format:"uuid"`
	QRCode     string `json:"qrCode" doc:"A PNG as a data URI, or with format=raw the string that it encodes." example:"data:image/png;base64,iVBORw0KGgo="`
	ExpiresAt  int64  `json:"expiresAt" doc:"When the code ends, Unix time in milliseconds." example:"1795012930123"`
	Attempt    int    `json:"attempt" doc:"Counts the codes of one linking, from 1." example:"1"`
}

// PairingCode is what a person types on the phone instead of scanning.
type PairingCode struct {
	InstanceID  string `json:"instanceId" format:"uuid"`
	PairingCode string `json:"pairingCode" doc:"The eight characters." example:"K7QM2XWD"`
	ExpiresAt   int64  `json:"expiresAt" doc:"When the code ends, Unix time in milliseconds." example:"1795012930123"`
}

type listInstancesInput struct {
	Paging
}

type qrInput struct {
	InstancePath

	Format string `query:"format" enum:"png,raw" default:"png" doc:"png: a picture as a data URI; raw: the string itself."`
}

type pairingCodeBody struct {
	Phone string `json:"phone" minLength:"1" format:"phone" doc:"Number of the phone that will be linked, with country code." example:"5511999990000"`
}

type pairingCodeInput struct {
	InstancePath
	JSON[pairingCodeBody]
}

func (s *service) registerInstances() {
	linking := []string{
		gateway.CodePaymentRequired, gateway.CodeAlreadyConnected, gateway.CodeNotConnected,
		gateway.CodePlatformError, gateway.CodePlatformTimeout, gateway.CodeUnavailable,
	}
	register(s, operation{
		id: "listInstances", method: http.MethodGet, path: "/api/instances", tag: tagInstances,
		summary:     "List instances",
		description: "Lists the instances that the API key reaches, oldest first.",
		codes:       []string{gateway.CodeValidation},
	}, s.listInstances)
	register(s, operation{
		id: "getInstance", method: http.MethodGet, path: "/api/instances/{instanceId}", tag: tagInstances,
		summary: "Get an instance", description: "Answers one instance as the list shows it.",
	}, s.getInstance)
	register(s, operation{
		id: "getQRCode", method: http.MethodGet, path: "/api/instances/{instanceId}/qr", tag: tagInstances,
		summary: "Get the QR code",
		description: "Starts linking where nothing is linked, waits up to ten seconds for the first code and answers the one " +
			"that is current. Repeated requests never start a second session.",
		codes: append([]string{gateway.CodeValidation}, linking...),
	}, s.qrCode)
	register(s, operation{
		id: "getPairingCode", method: http.MethodPost, path: "/api/instances/{instanceId}/pairing-code", tag: tagInstances,
		summary:     "Get a pairing code",
		description: "Like the QR code, for a person who can't scan: the characters are typed on the phone.",
		codes:       linking,
	}, s.pairingCode)
	register(s, operation{
		id: "restartInstance", method: http.MethodPost, path: "/api/instances/{instanceId}/restart", tag: tagInstances,
		summary: "Restart",
		description: "Reconnects a linked instance without a new code, and starts linking one that is not linked. " +
			"Answers when the instance is connecting.",
		codes: []string{gateway.CodePaymentRequired, gateway.CodeUnavailable},
	}, s.restartInstance)
	register(s, operation{
		id: "logoutInstance", method: http.MethodPost, path: "/api/instances/{instanceId}/logout", tag: tagInstances,
		summary: "Log out",
		description: "Ends the session on the platform, or a linking under way, and forgets its keys. The instance and its " +
			"messages stay. Where nothing is linked it changes nothing.",
		codes: []string{gateway.CodeUnavailable},
	}, s.logoutInstance)
}

func (s *service) listInstances(ctx context.Context, in *listInstancesInput) (*answer[Envelope[Instance]], error) {
	page, err := s.Instances.List(ctx, exchangeOf(ctx).key, in.request())
	if err != nil {
		return nil, err
	}
	return &answer[Envelope[Instance]]{envelope(in.Paging, page, newInstance)}, nil
}

func (s *service) getInstance(ctx context.Context, _ *InstancePath) (*answer[Instance], error) {
	return &answer[Instance]{newInstance(exchangeOf(ctx).instance)}, nil
}

func (s *service) qrCode(ctx context.Context, in *qrInput) (*answer[QRCode], error) {
	id := exchangeOf(ctx).instance.ID
	code, err := s.Instances.QR(ctx, id)
	if err != nil {
		return nil, err
	}
	text := code.Code
	if in.Format != "raw" {
		if text, err = instance.Picture(code); err != nil {
			return nil, err
		}
	}
	return &answer[QRCode]{QRCode{
		InstanceID: id, QRCode: text, ExpiresAt: code.ExpiresAt.UnixMilli(), Attempt: code.Attempt,
	}}, nil
}

func (s *service) pairingCode(ctx context.Context, in *pairingCodeInput) (*answer[PairingCode], error) {
	id := exchangeOf(ctx).instance.ID
	number, _ := gateway.ParseNumber(in.Given().Phone) // its format has been checked
	code, err := s.Instances.PairingCode(ctx, id, number)
	if err != nil {
		return nil, err
	}
	return &answer[PairingCode]{PairingCode{
		InstanceID: id, PairingCode: code.Code, ExpiresAt: code.ExpiresAt.UnixMilli(),
	}}, nil
}

func (s *service) restartInstance(ctx context.Context, _ *InstancePath) (*nothing, error) {
	return &nothing{}, s.Instances.Restart(ctx, exchangeOf(ctx).instance.ID)
}

func (s *service) logoutInstance(ctx context.Context, _ *InstancePath) (*nothing, error) {
	return &nothing{}, s.Instances.Logout(ctx, exchangeOf(ctx).instance.ID)
}
