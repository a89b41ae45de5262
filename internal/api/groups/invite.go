// Invite links of groups.

package groups

import (
	"context"

	"github.com/danielgtaylor/huma/v2"

	"github.com/recado-project/recado/internal/api/contract"
	"github.com/recado-project/recado/internal/gateway"
)

// Invite is the way into a group.
type Invite struct {
	Code string `json:"code" doc:"The code in the link." example:"AbCdEfGhIjKlMnOpQrStUv"`
	Link string `json:"link" doc:"The link to hand out." example:"https://chat.whatsapp.com/AbCdEfGhIjKlMnOpQrStUv"`
}

func (r resource) invite() contract.Endpoint {
	return r.inviteEndpoint(contract.Operation{
		ID: "getGroupInvite", Summary: "Get the invite link",
		Description: "Returns the link with which anybody can join, or ask to join if `approval` is on.",
	}, false)
}

func (r resource) resetInvite() contract.Endpoint {
	return r.inviteEndpoint(contract.Operation{
		ID: "resetGroupInvite", Summary: "Reset the invite link",
		Description: "Makes a new link and returns it. The old one leads nowhere from now on.",
	}, true)
}

func (r resource) inviteEndpoint(op contract.Operation, reset bool) contract.Endpoint {
	op.Tag, op.Codes = Tag, codes(gateway.CodeGroupAdminRequired, gateway.CodeGroupRefused, gateway.CodeGroupFull)
	return contract.Handle(op, func(ctx context.Context, in *Path) (*contract.Answer[Invite], error) {
		code, err := r.use.Invite(ctx, contract.Instance(ctx).ID, in.group, reset)
		if err != nil {
			return nil, err
		}
		return &contract.Answer[Invite]{Body: Invite{Code: code, Link: gateway.InviteLink(code)}}, nil
	})
}

// InvitePath is the path of an invitation.
type InvitePath struct {
	contract.InstancePath

	Invite string `path:"invite" doc:"The code in an invite link, or the whole link, escaped for a URL." example:"AbCdEfGhIjKlMnOpQrStUv"`

	code string
}

// Resolve reads the code.
func (p *InvitePath) Resolve(huma.Context) []error {
	code, ok := gateway.ParseInvite(p.Invite)
	if !ok {
		return contract.Wrong("invite", "must be the code of an invite link, or a link that begins with https://"+gateway.InviteHost+"/")
	}
	p.code = code
	return nil
}

// Invited is the group that an invite link leads to.
type Invited struct {
	ID          string  `json:"id" doc:"Group chat ID." example:"120363041234567890@g.us"`
	Subject     string  `json:"subject" doc:"Name of the group." example:"Support team"`
	Description *string `json:"description" nullable:"true" doc:"Description of the group; null if there is none." example:"Questions of customers"`
	Owner       *string `json:"owner" nullable:"true" doc:"Personal chat ID of the owner, or the LID if the number is not known; null if the group has no owner." example:"5511999990000@s.whatsapp.net"`
	Creation    int64   `json:"creation" doc:"When the group was created, Unix time in seconds; 0 if unknown." example:"1795012930"`
	Size        int64   `json:"size" doc:"How many members it has; 0 if unknown." example:"12"`
	Approval    bool    `json:"approval" doc:"Whether an administrator has to approve who joins." example:"false"`
}

func (r resource) lookAt() contract.Endpoint {
	return contract.Handle(contract.Operation{
		ID: "getInvitedGroup", Tag: Tag,
		Summary: "Look at an invite link", Description: "Returns the group that an invite link leads to. This account does not join it.",
		Codes: append(sessionCodes(), gateway.CodeInviteNotValid, gateway.CodeInviteExpired, gateway.CodeInviteRefused),
	}, func(ctx context.Context, in *InvitePath) (*contract.Answer[Invited], error) {
		group, err := r.use.LookAt(ctx, contract.Instance(ctx).ID, in.code)
		if err != nil {
			return nil, err
		}
		return &contract.Answer[Invited]{Body: Invited{
			ID: string(group.ID), Subject: group.Subject, Description: contract.TextOrNil(group.Description),
			Owner: contract.TextOrNil(string(group.Owner.Address())), Creation: creation(group), Size: int64(group.Size), Approval: group.Rules.Approval,
		}}, nil
	})
}

// Joined says where an invite link has led.
type Joined struct {
	ID     string `json:"id" doc:"Group chat ID." example:"120363041234567890@g.us"`
	Status string `json:"status" enum:"joined,requested" doc:"joined: this account is a member; requested: it waits for an administrator." example:"joined"`
}

func (r resource) join() contract.Endpoint {
	return contract.Handle(contract.Operation{
		ID: "joinGroup", Tag: Tag,
		Summary: "Join a group", Description: "Follows an invite link. Who is a member already stays one.",
		Codes: append(sessionCodes(), gateway.CodeInviteNotValid, gateway.CodeInviteExpired, gateway.CodeInviteRefused, gateway.CodeGroupFull),
	}, func(ctx context.Context, in *InvitePath) (*contract.Answer[Joined], error) {
		id, joined, err := r.use.Join(ctx, contract.Instance(ctx).ID, in.code)
		if err != nil {
			return nil, err
		}
		status := "requested"
		if joined {
			status = "joined"
		}
		return &contract.Answer[Joined]{Body: Joined{ID: string(id), Status: status}}, nil
	})
}
