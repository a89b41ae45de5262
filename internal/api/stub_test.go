package api_test

import (
	"context"
	"encoding/base64"
	"io"
	"sync"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/messaging"
)

// outcome is a stub of the use cases of messages, people and groups that always has
// the same answer: the API does not depend on the platform.
type outcome struct {
	result        messaging.Result
	link          messaging.DownloadLink
	registrations []gateway.Registration
	picture       string
	found         gateway.Group
	err           error
	panics        bool

	mu    sync.Mutex
	asked []asked
}

// asked is one call of a use case; arguments that it does not have are empty.
type asked struct {
	call    string
	request messaging.Request
	kind    gateway.MessageType
	media   messaging.MediaParams
	ref     gateway.MessageRef
	who     gateway.Recipient
	other   any // text, location, card, reaction, base URL, numbers, presence, blocked, group
}

func (o *outcome) note(a asked) {
	if o.panics {
		panic("the reason is secret")
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.asked = append(o.asked, a)
}

// last returns the last call.
func (o *outcome) last() asked {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.asked) == 0 {
		return asked{}
	}
	return o.asked[len(o.asked)-1]
}

// instanceOnly is a request that has nothing but its instance.
func instanceOnly(id string) messaging.Request { return messaging.Request{InstanceID: id} }

func (o *outcome) SendText(_ context.Context, request messaging.Request, text string) (messaging.Result, error) {
	o.note(asked{call: "SendText", request: request, other: text})
	return o.result, o.err
}

func (o *outcome) SendMedia(_ context.Context, request messaging.Request, kind gateway.MessageType, params messaging.MediaParams) (messaging.Result, error) {
	if params.Decoded != nil {
		content, err := io.ReadAll(io.NewSectionReader(params.Decoded.Content, 0, params.Decoded.Size))
		if err != nil {
			return messaging.Result{}, err
		}
		params.Input = "data:" + params.Decoded.Declared + ";base64," + base64.StdEncoding.EncodeToString(content)
		params.Decoded = nil
	}
	o.note(asked{call: "SendMedia", request: request, kind: kind, media: params})
	return o.result, o.err
}

func (o *outcome) SendLocation(_ context.Context, request messaging.Request, location gateway.Location) (messaging.Result, error) {
	o.note(asked{call: "SendLocation", request: request, other: location})
	return o.result, o.err
}

func (o *outcome) SendContact(_ context.Context, request messaging.Request, card gateway.ContactCard) (messaging.Result, error) {
	o.note(asked{call: "SendContact", request: request, other: card})
	return o.result, o.err
}

func (o *outcome) SendPoll(_ context.Context, request messaging.Request, question string, poll gateway.Poll) (messaging.Result, error) {
	o.note(asked{call: "SendPoll", request: request, kind: gateway.MessageType(question), other: poll})
	return o.result, o.err
}

func (o *outcome) Votes(_ context.Context, instanceID string, ref gateway.MessageRef) (messaging.Poll, error) {
	o.note(asked{call: "Votes", request: instanceOnly(instanceID), ref: ref})
	return messaging.Poll{}, o.err
}

func (o *outcome) Forward(_ context.Context, request messaging.Request, ref gateway.MessageRef) (messaging.Result, error) {
	o.note(asked{call: "Forward", request: request, ref: ref})
	return o.result, o.err
}

func (o *outcome) Edit(_ context.Context, instanceID string, ref gateway.MessageRef, text string) (messaging.Result, error) {
	o.note(asked{call: "Edit", request: instanceOnly(instanceID), ref: ref, other: text})
	return o.result, o.err
}

func (o *outcome) MarkRead(_ context.Context, instanceID string, ref gateway.MessageRef) error {
	o.note(asked{call: "MarkRead", request: instanceOnly(instanceID), ref: ref})
	return o.err
}

func (o *outcome) Delete(_ context.Context, instanceID string, ref gateway.MessageRef) error {
	o.note(asked{call: "Delete", request: instanceOnly(instanceID), ref: ref})
	return o.err
}

func (o *outcome) React(_ context.Context, instanceID string, ref gateway.MessageRef, reaction string) error {
	o.note(asked{call: "React", request: instanceOnly(instanceID), ref: ref, other: reaction})
	return o.err
}

func (o *outcome) MediaLink(_ context.Context, instanceID string, ref gateway.MessageRef, baseURL string) (messaging.DownloadLink, error) {
	o.note(asked{call: "MediaLink", request: instanceOnly(instanceID), ref: ref, other: baseURL})
	return o.link, o.err
}

func (o *outcome) CheckFile(context.Context, string) error { return o.err }

func (o *outcome) CheckNumbers(_ context.Context, instanceID string, numbers []string) ([]gateway.Registration, error) {
	o.note(asked{call: "CheckNumbers", request: instanceOnly(instanceID), other: numbers})
	return o.registrations, o.err
}

func (o *outcome) NumberChecks(_ context.Context, instanceID string) (gateway.Spent, error) {
	o.note(asked{call: "NumberChecks", request: instanceOnly(instanceID)})
	return gateway.Spent{LastHour: 3, LastDay: 40}, o.err
}

func (o *outcome) Unanswered(_ context.Context, instanceID string) (gateway.Unanswered, error) {
	o.note(asked{call: "Unanswered", request: instanceOnly(instanceID)})
	return gateway.Unanswered{Days: 7, Messages: 31, Chats: 24, OfChats: 180}, o.err
}

func (o *outcome) SendPresence(_ context.Context, instanceID string, to gateway.Recipient, presence gateway.Presence) error {
	o.note(asked{call: "SendPresence", request: instanceOnly(instanceID), who: to, other: presence})
	return o.err
}

func (o *outcome) ProfilePicture(_ context.Context, instanceID string, of gateway.Recipient) (string, error) {
	o.note(asked{call: "ProfilePicture", request: instanceOnly(instanceID), who: of})
	return o.picture, o.err
}

func (o *outcome) Block(_ context.Context, instanceID string, who gateway.Recipient, blocked bool) error {
	o.note(asked{call: "Block", request: instanceOnly(instanceID), who: who, other: blocked})
	return o.err
}

func (o *outcome) Group(_ context.Context, instanceID string, group gateway.JID) (gateway.Group, error) {
	o.note(asked{call: "Group", request: instanceOnly(instanceID), other: group})
	return o.found, o.err
}
