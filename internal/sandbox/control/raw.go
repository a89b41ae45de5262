package control

import (
	"net/http"

	"go.mau.fi/whatsmeow/appstate"
	"go.mau.fi/whatsmeow/proto/waSyncAction"
	"google.golang.org/protobuf/proto"

	"github.com/recado-project/recado/internal/sandbox/mediahost"
	"github.com/recado-project/recado/internal/sandbox/phone"
)

// either returns a text that the caller sent as text, or as bytes if it is not
// UTF-8.
func either(text *string, bytes []byte) *string {
	if bytes != nil {
		return new(string(bytes))
	}
	return text
}

// sendRaw lets a phone send a message without checking it.
func (a *api) sendRaw(r *http.Request) (any, error) {
	var body struct {
		To             string `json:"to"`
		Message        []byte `json:"message"`
		ID             string `json:"id"`
		IDBase64       []byte `json:"idBase64"`
		Type           string `json:"type"`
		Edit           string `json:"edit"`
		PushName       string `json:"pushName"`
		PushNameBase64 []byte `json:"pushNameBase64"`
		Timestamp      int64  `json:"timestamp"`
	}
	if err := decode(r, &body, false); err != nil {
		return nil, err
	}
	var wrong []detail
	if body.To == "" {
		wrong = append(wrong, detail{"to", "is required"})
	}
	if body.Message == nil {
		wrong = append(wrong, detail{"message", "is required: a waE2E.Message, or anything else, in base64"})
	}
	if len(wrong) > 0 {
		return nil, validation(wrong...)
	}
	id, err := a.config.Phones.SendRaw(r.Context(), r.PathValue("number"), phone.RawMessage{
		To: body.To, Payload: body.Message, ID: *either(&body.ID, body.IDBase64), Kind: body.Type, Edit: body.Edit,
		PushName: *either(&body.PushName, body.PushNameBase64), At: body.Timestamp,
	})
	return sent{id}, err
}

// sendRawReceipt lets a phone send a receipt without checking it.
func (a *api) sendRawReceipt(r *http.Request) (any, error) {
	var body struct {
		To               string   `json:"to"`
		Chat             string   `json:"chat"`
		MessageIDs       []string `json:"messageIds"`
		MessageIDsBase64 [][]byte `json:"messageIdsBase64"`
		Type             string   `json:"type"`
		Timestamp        int64    `json:"timestamp"`
	}
	if err := decode(r, &body, false); err != nil {
		return nil, err
	}
	if body.To == "" {
		return nil, validation(detail{"to", "is required"})
	}
	for _, id := range body.MessageIDsBase64 {
		body.MessageIDs = append(body.MessageIDs, string(id))
	}
	return nil, a.config.Phones.SendRawReceipt(r.Context(), r.PathValue("number"), phone.RawReceipt{
		To: body.To, Chat: body.Chat, IDs: body.MessageIDs, Kind: body.Type, At: body.Timestamp,
	})
}

// setRaw sets something in the app state of a phone without checking it.
func (a *api) setRaw(r *http.Request) (any, error) {
	var body struct {
		Collection string   `json:"collection"`
		Index      []string `json:"index"`
		Value      []byte   `json:"value"`
	}
	if err := decode(r, &body, false); err != nil {
		return nil, err
	}
	value := new(waSyncAction.SyncActionValue)
	if err := proto.Unmarshal(body.Value, value); err != nil {
		return nil, validation(detail{"value", "must be a waSyncAction.SyncActionValue in base64"})
	}
	of, err := a.config.Accounts.Named(r.Context(), r.PathValue("number"))
	if err != nil {
		return nil, err
	}
	return nil, a.config.Settings.Set(r.Context(), of, appstate.PatchInfo{
		Type: appstate.WAPatchName(body.Collection), Mutations: []appstate.MutationInfo{{Index: body.Index, Version: 3, Value: value}},
	})
}

// upload puts a file on the media host, for a message that points to it.
func (a *api) upload(r *http.Request) (any, error) {
	var body struct {
		Type  string `json:"type"`
		Media string `json:"media"`
	}
	if err := decode(r, &body, false); err != nil {
		return nil, err
	}
	file, err := a.readMedia(r, "media", body.Media)
	if err != nil {
		return nil, err
	}
	pointer, err := a.config.Phones.Upload(body.Type, file.content)
	return struct {
		mediahost.Pointer

		MimeType string `json:"mimeType"`
	}{pointer, file.mimeType}, err
}
