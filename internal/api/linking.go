package api

import (
	"context"

	"github.com/recado-project/recado/internal/api/contract"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/instance"
)

// Linking are the use cases of linking an instance to an account.
type Linking interface {
	QR(ctx context.Context, id string) (gateway.QRCode, error)
	PairingCode(ctx context.Context, id, number string) (gateway.PairingCode, error)
}

// QRCode is a code that a phone scans.
type QRCode struct {
	InstanceID string `json:"instanceId" format:"uuid"`
	QRCode     string `json:"qrCode" doc:"A PNG as a data URI; with format=raw, the text that it encodes." example:"data:image/png;base64,iVBORw0KGgo="`
	ExpiresAt  int64  `json:"expiresAt" doc:"When the code expires, Unix time in milliseconds." example:"1795012930123"`
	Attempt    int    `json:"attempt" doc:"Number of the code within one linking, counted from 1." example:"1"`
}

// PairingCode is a code that a person types on the phone instead of scanning.
type PairingCode struct {
	InstanceID  string `json:"instanceId" format:"uuid"`
	PairingCode string `json:"pairingCode" doc:"The eight characters." example:"K7QM2XWD"`
	ExpiresAt   int64  `json:"expiresAt" doc:"When the code expires, Unix time in milliseconds." example:"1795012930123"`
}

type qrInput struct {
	contract.InstancePath

	Format string `query:"format" enum:"png,raw" default:"png" doc:"png: a picture as a data URI; raw: the text itself."`
}

type pairingCodeBody struct {
	Phone string `json:"phone" minLength:"1" format:"phone" doc:"Number of the phone to link, with country code." example:"5511999990000"`
}

type pairingCodeInput struct {
	contract.InstancePath
	contract.JSON[pairingCodeBody]
}

// linking is the resource of the codes that link an instance.
type linking struct{ use Linking }

// linkingCodes are the refusals of a request for a code.
func linkingCodes() []string {
	return []string{
		gateway.CodePaymentRequired, gateway.CodeAlreadyConnected, gateway.CodeNotConnected,
		gateway.CodePlatformError, gateway.CodePlatformTimeout, gateway.CodeUnavailable,
	}
}

func (l linking) qrCode() contract.Endpoint {
	return contract.Handle(contract.Operation{
		ID: "getQRCode", Tag: tagInstances,
		Summary: "Get the QR code",
		Description: "Starts linking an instance that is not linked, waits up to ten seconds for the first code, and returns the code " +
			"that is valid now. Repeated requests never start a second session.",
		Codes: append(linkingCodes(), gateway.CodeValidation),
	}, func(ctx context.Context, in *qrInput) (*contract.Answer[QRCode], error) {
		id := contract.Instance(ctx).ID
		code, err := l.use.QR(ctx, id)
		if err != nil {
			return nil, err
		}
		text := code.Code
		if in.Format != "raw" {
			if text, err = instance.Picture(code); err != nil {
				return nil, err
			}
		}
		return &contract.Answer[QRCode]{Body: QRCode{
			InstanceID: id, QRCode: text, ExpiresAt: code.ExpiresAt.UnixMilli(), Attempt: code.Attempt,
		}}, nil
	})
}

func (l linking) pairingCode() contract.Endpoint {
	return contract.Handle(contract.Operation{
		ID: "getPairingCode", Tag: tagInstances,
		Summary:     "Get a pairing code",
		Description: "An alternative to the QR code for somebody who can't scan it: a person types the characters on the phone.",
		Codes:       linkingCodes(),
	}, func(ctx context.Context, in *pairingCodeInput) (*contract.Answer[PairingCode], error) {
		id := contract.Instance(ctx).ID
		number, _ := gateway.ParseNumber(in.Given().Phone) // its format has been checked
		code, err := l.use.PairingCode(ctx, id, number)
		if err != nil {
			return nil, err
		}
		return &contract.Answer[PairingCode]{Body: PairingCode{
			InstanceID: id, PairingCode: code.Code, ExpiresAt: code.ExpiresAt.UnixMilli(),
		}}, nil
	})
}
