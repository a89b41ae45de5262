package api

import (
	"context"
	"errors"
	"net/url"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"
	"github.com/google/uuid"

	"github.com/recado-project/recado/internal/gateway"
)

// What an operation's metadata holds.
const (
	metaOperation = "operation"
	metaRules     = "rules"
)

// gate lets in who may come in, in the order of the contract: who asks, the size
// of the body, whether the instance exists, whether the key reaches it. Route
// and method have been found before; validation, and the state of the instance,
// come after.
func (s *service) gate(ctx huma.Context, next func(huma.Context)) {
	x := exchangeOf(ctx.Context())
	op, ok := ctx.Operation().Metadata[metaOperation].(operation)
	var err error
	if !ok {
		err = errors.New("api: the operation is not ours")
	} else {
		err = s.admit(x, op)
	}
	if err != nil {
		_, w := humago.Unwrap(ctx)
		x.fail(w, err)
		return
	}
	next(ctx)
}

func (s *service) admit(x *exchange, op operation) error {
	if op.audience == everybody {
		return nil
	}
	ctx := x.request.Context()
	err := s.admitKey(ctx, x)
	if err != nil {
		return err
	}
	if err := s.keyPace.admit(x.Header(), x.key.ID, s.Now()); err != nil {
		return err
	}
	if op.body {
		if x.body, err = s.bodies.Read(x, x.request, x.key.ID, op.mediaField); err != nil {
			return err
		}
	}
	if op.instance {
		if err := s.findInstance(ctx, x); err != nil {
			return err
		}
		if err := s.instancePace.admit(x.Header(), x.instance.ID, s.Now()); err != nil {
			return err
		}
	}
	if op.audience == partners && !x.key.Partner {
		return gateway.Errorf(gateway.Forbidden, gateway.CodeForbidden, "this needs a partner key; make one with `recado keys create --name NAME --partner`")
	}
	if _, err := url.ParseQuery(x.request.URL.RawQuery); err != nil {
		// Else what can't be read would count as left out.
		return gateway.InvalidFields(gateway.FieldError{Field: "query", Message: "is no list of parameters: " + err.Error()})
	}
	return nil
}

// admitKey finds out who asks.
func (s *service) admitKey(ctx context.Context, x *exchange) (err error) {
	x.key, err = s.Access.Authenticate(ctx, x.request.Header.Get(apiKeyHeader))
	return err
}

// findInstance loads the instance that the path names.
func (s *service) findInstance(ctx context.Context, x *exchange) error {
	id := x.request.PathValue("instanceId")
	if !isUUID(id) {
		return gateway.Errorf(gateway.NotFound, gateway.CodeInstanceNotFound, "there is no such instance")
	}
	var err error
	if x.instance, err = s.Instances.Get(ctx, id); err != nil {
		return err
	}
	if !x.key.Reaches(x.instance) {
		return gateway.Errorf(gateway.Forbidden, gateway.CodeForbidden, "the API key does not reach this instance")
	}
	return nil
}

// isUUID reports whether text is a UUID in its usual spelling. Nothing else is
// worth a question to the database, and some texts it can't even be asked.
func isUUID(text string) bool {
	return len(text) == 36 && uuid.Validate(text) == nil
}
