package api

import (
	"context"
	"encoding/json"

	"github.com/recado-project/recado/internal/api/contract"
	"github.com/recado-project/recado/internal/eventlog"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/instance"
)

// QRCode is a code that a phone scans.
type QRCode eventlog.InstanceQR

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

type newPairingCodeBody struct {
	Phone string `json:"phone" minLength:"1" format:"phone" doc:"Number of the phone to link, with country code." example:"5511999990000"`
}

// linking is the resource of the codes that link an instance.
type linking struct{ use *instance.Service }

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
	}, func(ctx context.Context, in *qrInput) (QRCode, error) {
		id := contract.Instance(ctx).ID
		code, err := l.use.QR(ctx, id)
		if err != nil {
			return QRCode{}, err
		}
		text := code.Code
		if in.Format != "raw" {
			if text, err = instance.Picture(code); err != nil {
				return QRCode{}, err
			}
		}
		return QRCode{
			InstanceID: id, QRCode: text, Code: code.Code, ExpiresAt: code.ExpiresAt.UnixMilli(), Attempt: code.Attempt,
		}, nil
	})
}

func (l linking) pairingCode() contract.Endpoint {
	return contract.Handle(contract.Operation{
		ID: "getPairingCode", Tag: tagInstances,
		Summary:     "Get a pairing code",
		Description: "An alternative to the QR code for somebody who can't scan it: a person types the characters on the phone.",
		Codes:       linkingCodes(),
	}, func(ctx context.Context, in *instanceBody[newPairingCodeBody]) (PairingCode, error) {
		id := contract.Instance(ctx).ID
		number, _ := gateway.ParseNumber(in.Given().Phone) // its format has been checked
		code, err := l.use.PairingCode(ctx, id, number)
		if err != nil {
			return PairingCode{}, err
		}
		return PairingCode{
			InstanceID: id, PairingCode: code.Code, ExpiresAt: code.ExpiresAt.UnixMilli(),
		}, nil
	})
}

// Passkey is the platform's question for a passkey.
type Passkey struct {
	InstanceID string         `json:"instanceId" format:"uuid"`
	State      string         `json:"state" enum:"none,requested,confirm,done,failed" doc:"requested: a browser on the platform's page has to sign the request. confirm: the phone shows the code too, and somebody confirms that both are the same, or the platform needs no comparison and the phone is about to link. failed: scan the next code." example:"requested"`
	Request    map[string]any `json:"request,omitempty" doc:"While requested: what navigator.credentials.get takes as publicKey, as JSON."`
	ExpiresAt  int64          `json:"expiresAt,omitempty" doc:"While requested or to be confirmed: until when, Unix time in milliseconds." example:"1795012930123"`
	Code       string         `json:"code,omitempty" doc:"While to be confirmed: the eight characters to compare." example:"K7QM2XWD"`
	Confirmed  bool           `json:"confirmed,omitempty" doc:"The code was confirmed here, and the phone may still have to."`
	Reason     string         `json:"reason,omitempty" doc:"Why it failed, for people." example:"nobody answered in time; scan the code that is shown next"`
}

type passkeySignature struct {
	ClientDataJSON    string  `json:"clientDataJSON" minLength:"1" maxLength:"8192" doc:"Base64url." example:"eyJ0eXBlIjoid2ViYXV0aG4uZ2V0In0"` //nolint:tagliatelle // the browsers' name
	AuthenticatorData string  `json:"authenticatorData" minLength:"1" maxLength:"8192" doc:"Base64url." example:"SZYN5YgOjGh0NBcPZHZgW4_krrmihjLHmVzzuoMdl2MFAAAAAQ"`
	Signature         string  `json:"signature" minLength:"1" maxLength:"8192" doc:"Base64url." example:"MEUCIQDx"`
	UserHandle        *string `json:"userHandle,omitempty" maxLength:"1024" doc:"Base64url."`
}

type passkeyAnswerBody struct {
	ID       string           `json:"id" minLength:"1" maxLength:"4096" doc:"Base64url." example:"vK1c8Jg"`
	RawID    string           `json:"rawId" minLength:"1" maxLength:"4096" doc:"Base64url; the same as id." example:"vK1c8Jg"`
	Type     string           `json:"type" enum:"public-key" doc:"Always public-key." example:"public-key"`
	Response passkeySignature `json:"response" doc:"What the browser has signed."`
}

// passkeys is the resource of the question for a passkey.
type passkeys struct{ use *instance.Service }

func (p passkeys) get() contract.Endpoint {
	return contract.Handle(contract.Operation{
		ID: "getPasskey", Tag: tagInstances,
		Summary: "Get the question for a passkey",
		Description: "Many accounts link a device only after a passkey has signed a request of the platform. The question comes when a phone has " +
			"scanned or typed the code, and makes the codes that were shown before it void. See docs/linking.md.",
	}, func(ctx context.Context, _ *contract.InstancePath) (Passkey, error) {
		id := contract.Instance(ctx).ID
		question := p.use.Passkey(id)
		answer := Passkey{
			InstanceID: id, State: string(question.State), Code: question.Code, Confirmed: question.Confirmed, Reason: question.Reason,
		}
		if question.Request != nil {
			if err := json.Unmarshal(question.Request, &answer.Request); err != nil {
				return Passkey{}, err
			}
		}
		if question.Open() {
			answer.ExpiresAt = question.ExpiresAt.UnixMilli()
		}
		return answer, nil
	})
}

// passkeyCodes are the refusals of an answer or a confirmation.
func passkeyCodes() []string {
	return []string{
		gateway.CodeNotConnected, gateway.CodeRateLimited, gateway.CodePlatformError, gateway.CodePlatformTimeout, gateway.CodeUnavailable,
	}
}

func (p passkeys) answer() contract.Endpoint {
	return contract.Handle(contract.Operation{
		ID: "answerPasskey", Tag: tagInstances,
		Summary: "Answer the question for a passkey",
		Description: "Takes what a browser has signed on the platform's page, as credential.toJSON() gives it. What is found wrong here is " +
			"refused with 400 and can be sent again; the platform takes one answer only.",
		Codes: append(passkeyCodes(), gateway.CodeValidation),
	}, func(ctx context.Context, in *instanceBody[passkeyAnswerBody]) (contract.Empty, error) {
		assertion, err := json.Marshal(in.Given())
		if err != nil {
			return contract.Empty{}, err
		}
		return contract.Empty{}, p.use.AnswerPasskey(ctx, contract.Instance(ctx).ID, assertion)
	})
}

func (p passkeys) confirm() contract.Endpoint {
	return contract.Handle(contract.Operation{
		ID: "confirmPasskey", Tag: tagInstances,
		Summary:     "Confirm the code of a passkey",
		Description: "Says that the phone shows the same code. It is needed only while the state is confirm and confirmed is absent; it may be repeated.",
		Codes:       passkeyCodes(),
	}, func(ctx context.Context, _ *contract.InstancePath) (contract.Empty, error) {
		return contract.Empty{}, p.use.ConfirmPasskey(ctx, contract.Instance(ctx).ID)
	})
}
