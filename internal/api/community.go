// Communities, and the groups that belong to them.

package api

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/recado-project/recado/internal/api/contract"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/group"
)

func (r groups) listCommunities() contract.Endpoint {
	return contract.Handle(contract.Operation{
		ID: "listCommunities", Tag: tagGroups,
		Summary: "List communities", Description: "Lists the communities of this account, as the list of groups does.",
		Codes: sessionCodes(gateway.CodeValidation),
	}, func(ctx context.Context, in *instanceList) (contract.Envelope[GroupDetails], error) {
		return contract.Listed(in.Paging, newDetails)(r.use.List(ctx, contract.Instance(ctx).ID, group.Filter{Communities: true}, in.Request()))
	})
}

type newCommunityBody struct {
	Subject     string `json:"subject" minLength:"1" maxLength:"100" doc:"Name of the community, at most 100 characters." example:"Our shops"`
	Description string `json:"description,omitempty" maxLength:"2048" doc:"Description of the community, at most 2,048 characters." example:"All branches"`
}

func (r groups) createCommunity() contract.Endpoint {
	return contract.Handle(contract.Operation{
		ID: "createCommunity", Tag: tagGroups, Status: http.StatusCreated,
		Summary:     "Create a community",
		Description: "Makes a community with this account as its owner. The platform makes the group in which it announces.",
		Codes:       sessionCodes(gateway.CodeValidation, gateway.CodeGroupRefused),
	}, func(ctx context.Context, in *instanceBody[newCommunityBody]) (CreatedGroup, error) {
		given := in.Given()
		created, err := r.use.Create(ctx, contract.Instance(ctx).ID, group.Draft{Subject: given.Subject, Description: given.Description, IsCommunity: true})
		return newCreated(created, nil), err
	})
}

type linkedInput struct {
	CommunityPath
	contract.Paging
}

// Resolve reads the chat ID of the community, and checks the paging.
func (in *linkedInput) Resolve(ctx huma.Context) []error {
	return append(in.CommunityPath.Resolve(ctx), in.Paging.Resolve(ctx)...)
}

func (r groups) linked() contract.Endpoint {
	return contract.Handle(contract.Operation{
		ID: "listCommunityGroups", Tag: tagGroups,
		Summary: "List the groups of a community",
		Description: "Lists the groups of a community, also those that this account is not in: of these the platform tells only `id` and `subject`. " +
			"The platform is asked, with one question.",
		Codes: groupCodes(gateway.CodeGroupAdminRequired, gateway.CodeGroupRefused),
	}, func(ctx context.Context, in *linkedInput) (contract.Envelope[GroupDetails], error) {
		return contract.Listed(in.Paging, newDetails)(r.use.Linked(ctx, contract.Instance(ctx).ID, in.community, in.Request()))
	})
}

// LinkPath is the path of a group in a community.
type LinkPath struct {
	CommunityPath

	GroupID string `path:"groupId" doc:"Group chat ID." example:"120363040000000000@g.us"`

	group gateway.JID
}

// Resolve reads both chat IDs.
func (p *LinkPath) Resolve(ctx huma.Context) []error {
	id, errs := parseGroup("groupId", p.GroupID)
	p.group = id
	return append(p.CommunityPath.Resolve(ctx), errs...)
}

func (r groups) link() contract.Pair {
	return contract.Switch(contract.Operation{Tag: tagGroups, Codes: groupCodes(gateway.CodeGroupAdminRequired, gateway.CodeGroupRefused)},
		contract.Named{
			ID: "linkGroup", Summary: "Put a group into a community",
			Description: "This account must be an administrator of both. The members of the group become members of the community.",
		},
		contract.Named{ID: "unlinkGroup", Summary: "Take a group out of a community", Description: "The group and its members stay."},
		func(ctx context.Context, in *LinkPath, on bool) error {
			return r.use.Link(ctx, contract.Instance(ctx).ID, in.community, in.group, on)
		})
}
