package contract

import (
	"context"
	"errors"
	"net/url"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"
	"github.com/google/uuid"

	"github.com/recado-project/recado/internal/gateway"
)

// gate admits a request or refuses it, in the order of the contract: the API key, the
// size of the body, whether the instance exists, whether it is in the key's scope.
// Route and method have been found before; validation, and the state of the
// instance, come after.
func (a *API) gate(ctx huma.Context, next func(huma.Context)) {
	x := exchangeOf(ctx.Context())
	op, ok := ctx.Operation().Metadata[metaOperation].(Operation)
	var err error
	if !ok {
		err = errors.New("contract: the operation was not registered here")
	} else {
		err = a.admit(x, op)
		ctx = huma.WithContext(ctx, x.request.Context())
	}
	if err != nil {
		_, w := humago.Unwrap(ctx)
		x.fail(w, err)
		return
	}
	next(ctx)
}

func (a *API) admit(x *exchange, op Operation) error {
	if op.Audience == Everybody {
		return nil
	}
	ctx := x.request.Context()
	err := a.admitKey(ctx, x)
	if err != nil {
		return err
	}
	ctx = gateway.WithRequester(ctx, gateway.Requester{AccountID: x.key.AccountID, ID: x.key.ID, Kind: "this API key"})
	x.request = x.request.WithContext(ctx)
	if err := a.keyPace.admit(x.Header(), x.key.ID, a.config.Now()); err != nil {
		a.config.Watcher.RequestLimited("key")
		return err
	}
	if !op.Stream { // of which there are others
		if x.hold, err = a.config.Requests.Take(ctx, 1); err != nil {
			return err
		}
	}
	if op.Body != nil {
		if x.body, err = a.bodies.Read(x, x.request, op.mediaField); err != nil {
			return err
		}
	}
	if op.ofInstance() {
		if err := a.findInstance(ctx, x); err != nil {
			return err
		}
		if err := a.instancePace.admit(x.Header(), x.instance.ID, a.config.Now()); err != nil {
			a.config.Watcher.RequestLimited("instance")
			return err
		}
	}
	if op.Audience == Partners && !x.key.Partner {
		return gateway.Errorf(gateway.Forbidden, gateway.CodeForbidden, "this needs a partner key; make one on the dashboard (/keys) or with `recado keys create --name NAME --partner`")
	}
	if _, err := url.ParseQuery(x.request.URL.RawQuery); err != nil {
		// Otherwise a parameter that can't be read would count as left out.
		return gateway.InvalidField("query", "is not a list of parameters: "+err.Error())
	}
	return nil
}

// admitKey finds the API key of the request.
func (a *API) admitKey(ctx context.Context, x *exchange) (err error) {
	secret := x.request.Header.Get(apiKeyHeader)
	for _, other := range []string{"Authorization", "apikey", "api-key", "token"} { // of other programs
		if secret == "" && x.request.Header.Get(other) != "" {
			return gateway.Errorf(gateway.Unauthorized, gateway.CodeUnauthorized,
				"the x-api-key header is missing; there is the header %s, which is not read: send the API key as x-api-key", other)
		}
	}
	x.key, err = a.config.Authenticate(ctx, secret)
	return err
}

// findInstance loads the instance that the path names.
func (a *API) findInstance(ctx context.Context, x *exchange) error {
	id := x.request.PathValue("instanceId")
	if !IsUUID(id) {
		return gateway.Errorf(gateway.NotFound, gateway.CodeInstanceNotFound,
			"there is no such instance: its ID is wanted here, as GET /api/instances lists it, and not its name")
	}
	var err error
	if x.instance, err = a.config.FindInstance(ctx, id); err != nil {
		return err
	}
	if !x.key.InScope(x.instance) {
		return gateway.Errorf(gateway.Forbidden, gateway.CodeForbidden, "this instance is not in the scope of the API key")
	}
	return nil
}

// IsUUID reports whether text is a UUID in its usual spelling. Nothing else is worth
// a question to the database, which refuses some texts.
func IsUUID(text string) bool {
	return len(text) == 36 && uuid.Validate(text) == nil
}
