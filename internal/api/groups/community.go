// Communities, and the groups that belong to them.

package groups

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/recado-project/recado/internal/api/contract"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/group"
)

type communitiesInput struct {
	contract.InstancePath
	contract.Paging
}

func (r resource) listCommunities() contract.Endpoint {
	return contract.Handle(contract.Operation{
		ID: "listCommunities", Tag: Tag,
		Summary: "List communities", Description: "Lists the communities of this account, as the list of groups does.",
		Codes: sessionCodes(),
	}, func(ctx context.Context, in *communitiesInput) (*contract.Answer[contract.Envelope[Details]], error) {
		page, err := r.use.List(ctx, contract.Instance(ctx).ID, group.Filter{Communities: true}, in.Request())
		if err != nil {
			return nil, err
		}
		return &contract.Answer[contract.Envelope[Details]]{Body: contract.NewEnvelope(in.Paging, page, newDetails)}, nil
	})
}

type communityBody struct {
	Subject     string `json:"subject" minLength:"1" maxLength:"100" doc:"Name of the community, at most 100 characters." example:"Our shops"`
	Description string `json:"description,omitempty" maxLength:"2048" doc:"Description of the community, at most 2,048 characters." example:"All branches"`
}

type communityInput struct {
	contract.InstancePath
	contract.JSON[communityBody]
}

func (r resource) createCommunity() contract.Endpoint {
	return contract.Handle(contract.Operation{
		ID: "createCommunity", Tag: Tag, Status: http.StatusCreated,
		Summary:     "Create a community",
		Description: "Makes a community with this account as its owner. The platform makes the group in which it announces.",
		Codes:       append(sessionCodes(), gateway.CodeGroupRefused),
	}, func(ctx context.Context, in *communityInput) (*contract.Answer[Created], error) {
		given := in.Given()
		created, err := r.use.Create(ctx, contract.Instance(ctx).ID, group.Draft{Subject: given.Subject, Description: given.Description, IsCommunity: true})
		if err != nil {
			return nil, err
		}
		return &contract.Answer[Created]{Body: newCreated(created, nil)}, nil
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

func (r resource) linked() contract.Endpoint {
	return contract.Handle(contract.Operation{
		ID: "listCommunityGroups", Tag: Tag,
		Summary: "List the groups of a community",
		Description: "Lists the groups of a community, also those that this account is not in: of these the platform tells only `id` and `subject`. " +
			"The platform is asked, with one question.",
		Codes: codes(gateway.CodeGroupAdminRequired, gateway.CodeGroupRefused),
	}, func(ctx context.Context, in *linkedInput) (*contract.Answer[contract.Envelope[Details]], error) {
		page, err := r.use.Linked(ctx, contract.Instance(ctx).ID, in.community, in.Request())
		if err != nil {
			return nil, err
		}
		return &contract.Answer[contract.Envelope[Details]]{Body: contract.NewEnvelope(in.Paging, page, newDetails)}, nil
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

func (r resource) link() contract.Endpoint {
	return r.linkEndpoint(contract.Operation{
		ID: "linkGroup", Summary: "Put a group into a community",
		Description: "This account must be an administrator of both. The members of the group become members of the community.",
	}, true)
}

func (r resource) unlink() contract.Endpoint {
	return r.linkEndpoint(contract.Operation{
		ID: "unlinkGroup", Summary: "Take a group out of a community",
		Description: "The group and its members stay.",
	}, false)
}

func (r resource) linkEndpoint(op contract.Operation, linked bool) contract.Endpoint {
	op.Tag, op.Codes = Tag, codes(gateway.CodeGroupAdminRequired, gateway.CodeGroupRefused)
	return contract.Handle(op, func(ctx context.Context, in *LinkPath) (*struct{}, error) {
		return nil, r.use.Link(ctx, contract.Instance(ctx).ID, in.community, in.group, linked)
	})
}
