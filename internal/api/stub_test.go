package api_test

import (
	"context"
	"encoding/base64"
	"io"
	"sync"
	"time"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/group"
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
	other   any // content, reaction, base URL, numbers, presence, blocked, group
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

func (o *outcome) Send(_ context.Context, request messaging.Request, content gateway.Content) (messaging.Result, error) {
	o.note(asked{call: "Send", request: request, kind: content.Type, other: content})
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

func (o *outcome) SendTemplate(
	_ context.Context, request messaging.Request, _ func(ctx context.Context) (gateway.Content, error), _ messaging.MediaParams,
) (messaging.Result, error) {
	o.note(asked{call: "SendTemplate", request: request})
	return o.result, o.err
}

func (o *outcome) SendAlbum(_ context.Context, request messaging.Request, items []messaging.AlbumItem) (messaging.Result, []messaging.AlbumPart, error) {
	o.note(asked{call: "SendAlbum", request: request, other: items})
	parts := make([]messaging.AlbumPart, len(items))
	for n := range parts {
		parts[n].Result = o.result
	}
	return o.result, parts, o.err
}

func (o *outcome) CancelEvent(_ context.Context, instanceID string, ref gateway.MessageRef) error {
	o.note(asked{call: "CancelEvent", request: instanceOnly(instanceID), ref: ref})
	return o.err
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

func (o *outcome) Pin(_ context.Context, instanceID string, ref gateway.MessageRef, lasts time.Duration) error {
	o.note(asked{call: "Pin", request: instanceOnly(instanceID), ref: ref, other: lasts})
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

func (o *outcome) CheckFile(context.Context, string, bool) error { return o.err }

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

// groupStub is the outcome as the use cases of groups.
type groupStub struct{ *outcome }

func (s groupStub) Get(_ context.Context, instanceID string, id gateway.JID) (gateway.Group, error) {
	s.note(asked{call: "Group", request: instanceOnly(instanceID), other: id})
	return s.found, s.err
}

func (s groupStub) List(_ context.Context, instanceID string, filter group.Filter, _ gateway.PageRequest) (gateway.Page[gateway.Group], error) {
	s.note(asked{call: "ListGroups", request: instanceOnly(instanceID), other: filter})
	return gateway.Page[gateway.Group]{Items: []gateway.Group{s.found}, Total: 1}, s.err
}

func (s groupStub) Create(_ context.Context, instanceID string, draft group.Draft) (group.Created, error) {
	s.note(asked{call: "CreateGroup", request: instanceOnly(instanceID), other: draft})
	return group.Created{Group: s.found, Results: make([]gateway.MemberResult, len(draft.People))}, s.err
}

func (s groupStub) Change(_ context.Context, instanceID string, _ gateway.JID, change group.Change) (gateway.Group, error) {
	s.note(asked{call: "ChangeGroup", request: instanceOnly(instanceID), other: change})
	return s.found, s.err
}

func (s groupStub) Leave(_ context.Context, instanceID string, id gateway.JID) error {
	s.note(asked{call: "LeaveGroup", request: instanceOnly(instanceID), other: id})
	return s.err
}

func (s groupStub) ChangeMembers(
	_ context.Context, instanceID string, _ gateway.JID, action gateway.MemberAction, people []gateway.Recipient, _ bool,
) ([]gateway.MemberResult, error) {
	s.note(asked{call: "ChangeMembers", request: instanceOnly(instanceID), other: action})
	return make([]gateway.MemberResult, len(people)), s.err
}

func (s groupStub) JoinRequests(_ context.Context, instanceID string, id gateway.JID) ([]gateway.JoinRequest, error) {
	s.note(asked{call: "JoinRequests", request: instanceOnly(instanceID), other: id})
	return nil, s.err
}

func (s groupStub) AnswerJoinRequests(
	_ context.Context, instanceID string, _ gateway.JID, approve bool, people []gateway.Recipient,
) ([]gateway.MemberResult, error) {
	s.note(asked{call: "AnswerJoinRequests", request: instanceOnly(instanceID), other: approve})
	return make([]gateway.MemberResult, len(people)), s.err
}

func (s groupStub) Invite(_ context.Context, instanceID string, _ gateway.JID, reset bool) (string, error) {
	s.note(asked{call: "Invite", request: instanceOnly(instanceID), other: reset})
	return "AbCd", s.err
}

func (s groupStub) LookAt(_ context.Context, instanceID, code string) (gateway.Group, error) {
	s.note(asked{call: "LookAt", request: instanceOnly(instanceID), other: code})
	return s.found, s.err
}

func (s groupStub) Join(_ context.Context, instanceID, code string) (gateway.JID, bool, error) {
	s.note(asked{call: "Join", request: instanceOnly(instanceID), other: code})
	return s.found.ID, false, s.err
}

func (s groupStub) Linked(_ context.Context, instanceID string, community gateway.JID, _ gateway.PageRequest) (gateway.Page[gateway.Group], error) {
	s.note(asked{call: "Linked", request: instanceOnly(instanceID), other: community})
	return gateway.Page[gateway.Group]{}, s.err
}

func (s groupStub) Link(_ context.Context, instanceID string, community, id gateway.JID, linked bool) error {
	s.note(asked{call: "Link", request: instanceOnly(instanceID), other: []any{community, id, linked}})
	return s.err
}
