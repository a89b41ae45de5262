package api

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/recado-project/recado/internal/access"
	"github.com/recado-project/recado/internal/api/contract"
	"github.com/recado-project/recado/internal/clock"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/instance"
)

// keys is the resource of API keys.
type keys struct {
	use       *access.Service
	instances *instance.Service
	now       func() time.Time
}

// Key is an API key as lists show it.
type Key struct {
	KeyFields

	LastUsedAt *contract.Timestamp `json:"lastUsedAt" nullable:"true" doc:"To the minute; null if it was never used."`
	RevokedAt  *contract.Timestamp `json:"revokedAt" nullable:"true" doc:"When the key was revoked; null: it was not."`
	Dialects   []SpokenDialect     `json:"dialects" nullable:"false" doc:"The languages of other tools that programs have spoken with this key."`
}

// SpokenDialect is a language of another tool that programs have spoken with a key.
type SpokenDialect struct {
	Dialect string             `json:"dialect" doc:"Which one: evolution or cloud." example:"evolution"`
	LastAt  contract.Timestamp `json:"lastAt" doc:"When it was spoken last, to the minute."`
	Refused []RefusedOperation `json:"refused" nullable:"false" maxItems:"20" doc:"What programs have asked for in it that the gateway can't do, the latest first."`
}

// RefusedOperation is what a program has asked for in vain.
type RefusedOperation struct {
	Operation string             `json:"operation" doc:"In the words of that tool." example:"message/sendTemplate"`
	Reason    string             `json:"reason" doc:"What the program was told, in English." example:"A linked device can't send templates: send a text."`
	At        contract.Timestamp `json:"at" doc:"When it asked last, to the minute."`
}

func newSpoken(all []gateway.Spoken) []SpokenDialect {
	shown := []SpokenDialect{}
	for _, spoken := range all {
		refused := []RefusedOperation{}
		for _, one := range spoken.Refused {
			refused = append(refused, RefusedOperation{Operation: one.Operation, Reason: one.Reason, At: contract.Timestamp(one.At)})
		}
		shown = append(shown, SpokenDialect{Dialect: spoken.Dialect, LastAt: contract.Timestamp(spoken.LastAt), Refused: refused})
	}
	return shown
}

// CreatedKey is an API key in the answer that makes it.
type CreatedKey struct {
	KeyFields

	Key string `json:"key" doc:"The secret. No other answer contains it." example:"rcd_…"`
}

// KeyFields are the fields of every answer about a key.
type KeyFields struct {
	ID          string              `json:"id" format:"uuid" example:"019aa1f4-1c7f-7a20-8a5e-4be2f7b0a911"`
	Name        string              `json:"name" example:"Shop"`
	InstanceIDs []string            `json:"instanceIds" nullable:"true" doc:"The scope of the key: the instances that it may use; null: all instances of the account."`
	Partner     bool                `json:"partner" doc:"Whether it is a partner key."`
	ExpiresAt   *contract.Timestamp `json:"expiresAt" nullable:"true" doc:"When the key ends; null: never."`
	CreatedAt   contract.Timestamp  `json:"createdAt"`
}

// needsWholeAccount refuses a key that is limited to certain instances, even a partner key: what belongs to the account is
// shared with its other instances.
func needsWholeAccount(ctx context.Context) error {
	if len(contract.Key(ctx).InstanceIDs) > 0 {
		return gateway.Errorf(gateway.Forbidden, gateway.CodeForbidden,
			"the API key's scope is limited to certain instances, and this concerns all: use a partner key for the whole account")
	}
	return nil
}

func newKeyFields(key gateway.Key) KeyFields {
	return KeyFields{
		ID:          key.ID,
		Name:        key.Name,
		InstanceIDs: key.InstanceIDs,
		Partner:     key.Partner,
		ExpiresAt:   contract.TimestampOrNil(key.ExpiresAt),
		CreatedAt:   contract.Timestamp(key.CreatedAt),
	}
}

func newKey(key gateway.Key) Key {
	return Key{
		KeyFields: newKeyFields(key), LastUsedAt: contract.TimestampOrNil(key.LastUsedAt), RevokedAt: contract.TimestampOrNil(key.RevokedAt),
		Dialects: newSpoken(key.Spoken),
	}
}

type newKeyBody struct {
	Name        string     `json:"name" minLength:"1" maxLength:"255" doc:"Name of the key, for people." example:"Shop"`
	InstanceIDs []string   `json:"instanceIds,omitempty" nullable:"false" minItems:"1" maxItems:"1000" doc:"The scope of the key: the instances that it may use. If left out: all instances of the account. Null is refused."`
	Partner     bool       `json:"partner,omitempty" default:"false" doc:"Whether the key may use the partner interface." example:"false"`
	ExpiresAt   *time.Time `json:"expiresAt,omitempty" doc:"When the key ends. If left out: never." example:"2027-01-01T00:00:00Z"`
	Value       string     `json:"value,omitempty" minLength:"16" maxLength:"255" doc:"The key itself, of your own choosing: visible ASCII characters. It is as hard to guess as you make it. If left out: a new random one." example:"-" sample:"-"`
}

type revokeKeyInput struct {
	ID string `path:"id" doc:"Identifier of the key." example:"019aa1f4-1c7f-7a20-8a5e-4be2f7b0a911"`
}

func (k keys) create() contract.Endpoint {
	return contract.Handle(contract.Operation{
		ID: "createAPIKey", Tag: tagPartner,
		Summary:     "Create an API key",
		Description: "Only a hash of the key is stored: no other answer contains the key. A key can't create one with a wider scope or a later end than its own.",
		Status:      http.StatusCreated, Audience: contract.Partners, Codes: []string{gateway.CodeKeyValueTaken},
	}, func(ctx context.Context, in *contract.JSON[newKeyBody]) (CreatedKey, error) {
		own := contract.Key(ctx)
		given := in.Given()
		params := access.KeyParams{
			AccountID:   own.AccountID,
			Name:        given.Name,
			InstanceIDs: given.InstanceIDs,
			Partner:     given.Partner,
			Secret:      given.Value,
		}
		if given.ExpiresAt != nil {
			params.ExpiresAt = *given.ExpiresAt
		}
		if err := in.RefuseMisspelt(); err != nil {
			return CreatedKey{}, err
		}
		if in.IsNull("instanceIds") {
			// Null counts as absent elsewhere; here a mistake would open every instance.
			return CreatedKey{}, gateway.InvalidField("instanceIds", "must not be null: leave it out for all instances of the account")
		}
		if err := k.check(ctx, own, params); err != nil {
			return CreatedKey{}, err
		}
		key, secret, err := k.use.CreateKey(ctx, params)
		return CreatedKey{KeyFields: newKeyFields(key), Key: secret}, err
	})
}

// check refuses a key that would be useless, and one with a wider scope than the key
// that asks for it.
func (k keys) check(ctx context.Context, own gateway.Key, params access.KeyParams) error {
	var wrong fieldErrors
	if params.Secret != "" {
		if why := access.Unfit(params.Secret); why != "" {
			wrong.add("value", why)
		}
	}
	if !params.ExpiresAt.IsZero() && !params.ExpiresAt.After(k.now()) {
		wrong.add("expiresAt", "must be in the future")
	}
	for i, id := range params.InstanceIDs {
		known, err := k.owns(ctx, own.AccountID, id)
		if err != nil {
			return err
		}
		if !known {
			wrong.add(fmt.Sprintf("instanceIds[%d]", i), "must be an instance of the account")
		}
	}
	if len(wrong) > 0 {
		return wrong.err()
	}
	return coverNew(own, params)
}

// coverNew refuses a key that would have a wider scope than the one that asks for it,
// or end later.
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
			"a key can't create one that ends later than itself: set expiresAt to %s at the latest", clock.Spelled(own.ExpiresAt))
	}
	return gateway.Errorf(gateway.Forbidden, gateway.CodeForbidden, "a key can't create one with a wider scope than its own")
}

// owns reports whether the account has the instance.
func (k keys) owns(ctx context.Context, accountID, id string) (bool, error) {
	if !contract.IsUUID(id) {
		return false, nil
	}
	found, err := k.instances.Get(ctx, id)
	if gateway.KindOf(err) == gateway.NotFound {
		return false, nil
	}
	return found.AccountID == accountID, err
}

func (k keys) list() contract.Endpoint {
	return contract.Handle(contract.Operation{
		ID: "listAPIKeys", Tag: tagPartner,
		Summary: "List API keys",
		Description: "Lists the API keys of the account, oldest first, including revoked and expired ones. " +
			"A key with a limited scope or an end sees only keys with no wider scope and no later end.",
		Audience: contract.Partners, Codes: []string{gateway.CodeValidation},
	}, func(ctx context.Context, in *contract.Paging) (contract.Envelope[Key], error) {
		return contract.Listed(*in, newKey)(k.use.ListKeysWithin(ctx, contract.Key(ctx), in.Request()))
	})
}

func (k keys) revoke() contract.Endpoint {
	return contract.Do(contract.Operation{
		ID: "revokeAPIKey", Tag: tagPartner,
		Summary: "Revoke an API key", Description: "The key stops working at once, and its event streams end. Keys that it created keep working: revoke them one by one. " +
			"A key can revoke only the keys that it can list.",
		Audience: contract.Partners, Codes: []string{gateway.CodeNotFound},
	}, func(ctx context.Context, in *revokeKeyInput) error {
		if !contract.IsUUID(in.ID) {
			return gateway.Errorf(gateway.NotFound, gateway.CodeNotFound, "there is no such API key")
		}
		return k.use.RevokeKeyWithin(ctx, contract.Key(ctx), in.ID)
	})
}
