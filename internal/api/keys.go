package api

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/recado-project/recado/internal/access"
	"github.com/recado-project/recado/internal/gateway"
)

// Key is an API key as lists show it.
type Key struct {
	KeyFields

	LastUsedAt *Timestamp `json:"lastUsedAt" nullable:"true" doc:"To the minute; null where it was never used."`
	RevokedAt  *Timestamp `json:"revokedAt" nullable:"true" doc:"Since when it opens nothing; null: it was not revoked."`
}

// NewKey is an API key in the answer that makes it.
type NewKey struct {
	KeyFields

	Key string `json:"key" doc:"The secret. No other answer holds it." example:"rcd_…"`
}

// KeyFields is what all answers about a key have.
type KeyFields struct {
	ID          string     `json:"id" format:"uuid" example:"019aa1f4-1c7f-7a20-8a5e-4be2f7b0a911"`
	Name        string     `json:"name" example:"Shop"`
	InstanceIDs []string   `json:"instanceIds" nullable:"true" doc:"Instances that the key reaches; null: all of the account."`
	Partner     bool       `json:"partner" doc:"Whether it is a partner key."`
	ExpiresAt   *Timestamp `json:"expiresAt" nullable:"true" doc:"Null: never."`
	CreatedAt   Timestamp  `json:"createdAt"`
}

func newKeyFields(key gateway.Key) KeyFields {
	return KeyFields{
		ID:          key.ID,
		Name:        key.Name,
		InstanceIDs: key.InstanceIDs,
		Partner:     key.Partner,
		ExpiresAt:   timestampOrNil(key.ExpiresAt),
		CreatedAt:   Timestamp(key.CreatedAt),
	}
}

type createKeyBody struct {
	Name        string     `json:"name" minLength:"1" maxLength:"255" doc:"What the key is for." example:"Shop"`
	InstanceIDs []string   `json:"instanceIds,omitempty" nullable:"false" minItems:"1" maxItems:"1000" doc:"Instances that the key reaches; left out: all of the account. Null is refused."`
	Partner     bool       `json:"partner,omitempty" doc:"Whether the key may use the partner interface." example:"false"`
	ExpiresAt   *time.Time `json:"expiresAt,omitempty" doc:"When the key ends; left out: never." example:"2027-01-01T00:00:00Z"`
}

type createKeyInput struct {
	JSON[createKeyBody]
}

type listKeysInput struct {
	Paging
}

type revokeKeyInput struct {
	ID string `path:"id" doc:"Identifier of the key." example:"019aa1f4-1c7f-7a20-8a5e-4be2f7b0a911"`
}

func (s *service) registerKeys() {
	register(s, operation{
		id: "createAPIKey", method: http.MethodPost, path: "/api/partner/api-keys", tag: tagPartner,
		summary:     "Create an API key",
		description: "Only the key's hash is kept: no other answer holds the key. A key never makes one that reaches more than itself, or ends later.",
		status:      http.StatusCreated, audience: partners,
	}, s.createKey)
	register(s, operation{
		id: "listAPIKeys", method: http.MethodGet, path: "/api/partner/api-keys", tag: tagPartner,
		summary: "List API keys",
		description: "Lists the API keys of the account, oldest first, also those that were revoked or have expired. " +
			"A key that reaches certain instances, or ends, sees only keys that reach no more and end no later.",
		audience: partners, codes: []string{gateway.CodeValidation},
	}, s.listKeys)
	register(s, operation{
		id: "revokeAPIKey", method: http.MethodDelete, path: "/api/partner/api-keys/{id}", tag: tagPartner,
		summary: "Revoke an API key", description: "The key opens nothing from now on, and its event streams end. Keys that it made stay: they are revoked one by one. " +
			"What a key does not list, it can't revoke.",
		audience: partners, codes: []string{gateway.CodeNotFound},
	}, s.revokeKey)
}

func (s *service) createKey(ctx context.Context, in *createKeyInput) (*answer[NewKey], error) {
	own := exchangeOf(ctx).key
	params := access.KeyParams{
		AccountID:   own.AccountID,
		Name:        in.Given().Name,
		InstanceIDs: in.Given().InstanceIDs,
		Partner:     in.Given().Partner,
	}
	if in.Given().ExpiresAt != nil {
		params.ExpiresAt = *in.Given().ExpiresAt
	}
	if err := in.RefuseMisspelt(); err != nil {
		return nil, err
	}
	if in.IsNull("instanceIds") {
		// Null counts as absent elsewhere; here a mistake would open everything.
		return nil, gateway.InvalidFields(gateway.FieldError{
			Field: "instanceIds", Message: "must not be null: leave it out for all instances of the account",
		})
	}
	if err := s.checkKey(ctx, own, params); err != nil {
		return nil, err
	}
	key, secret, err := s.Access.CreateKey(ctx, params)
	if err != nil {
		return nil, err
	}
	return &answer[NewKey]{NewKey{KeyFields: newKeyFields(key), Key: secret}}, nil
}

// checkKey refuses a key that would be of no use, and one that reaches more than
// the key that asks for it.
func (s *service) checkKey(ctx context.Context, own gateway.Key, params access.KeyParams) error {
	var wrong []gateway.FieldError
	if !params.ExpiresAt.IsZero() && !params.ExpiresAt.After(s.Now()) {
		wrong = append(wrong, gateway.FieldError{Field: "expiresAt", Message: "must lie in the future"})
	}
	for i, id := range params.InstanceIDs {
		known, err := s.owns(ctx, own.AccountID, id)
		if err != nil {
			return err
		}
		if !known {
			wrong = append(wrong, gateway.FieldError{
				Field: fmt.Sprintf("instanceIds[%d]", i), Message: "must be an instance of the account",
			})
		}
	}
	if len(wrong) > 0 {
		return gateway.InvalidFields(wrong...)
	}
	return coverNew(own, params)
}

// coverNew refuses a key that would reach more than the one that asks for it, or
// end later.
func coverNew(own gateway.Key, params access.KeyParams) error {
	asked := gateway.Key{
		AccountID: params.AccountID, InstanceIDs: params.InstanceIDs, Partner: params.Partner, ExpiresAt: params.ExpiresAt,
	}
	if own.Covers(asked) {
		return nil
	}
	asked.ExpiresAt = own.ExpiresAt
	if own.Covers(asked) {
		return gateway.Errorf(gateway.Forbidden, gateway.CodeForbidden,
			"a key can't make one that ends later than itself: give an expiresAt of %s at the latest", own.ExpiresAt.UTC().Format(timestampLayout))
	}
	return gateway.Errorf(gateway.Forbidden, gateway.CodeForbidden, "a key can't make one that reaches more than itself")
}

// owns reports whether the account has the instance.
func (s *service) owns(ctx context.Context, accountID, id string) (bool, error) {
	if !isUUID(id) {
		return false, nil
	}
	instance, err := s.Instances.Get(ctx, id)
	if gateway.KindOf(err) == gateway.NotFound {
		return false, nil
	}
	return instance.AccountID == accountID, err
}

func (s *service) listKeys(ctx context.Context, in *listKeysInput) (*answer[Envelope[Key]], error) {
	page, err := s.Access.ListKeysWithin(ctx, exchangeOf(ctx).key, in.request())
	if err != nil {
		return nil, err
	}
	return &answer[Envelope[Key]]{envelope(in.Paging, page, func(key gateway.Key) Key {
		return Key{KeyFields: newKeyFields(key), LastUsedAt: timestampOrNil(key.LastUsedAt), RevokedAt: timestampOrNil(key.RevokedAt)}
	})}, nil
}

func (s *service) revokeKey(ctx context.Context, in *revokeKeyInput) (*struct{}, error) {
	if !isUUID(in.ID) {
		return nil, gateway.Errorf(gateway.NotFound, gateway.CodeNotFound, "there is no such API key")
	}
	return nil, s.Access.RevokeKeyWithin(ctx, exchangeOf(ctx).key, in.ID)
}
