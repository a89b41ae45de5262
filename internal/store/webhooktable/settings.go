// The columns that the webhooks of instances and of accounts have in common.

package webhooktable

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/recado-project/recado/internal/store/table"
	"github.com/recado-project/recado/internal/store/vault"
	"github.com/recado-project/recado/internal/webhook"
)

const (
	settingsColumns = "url, secret, secret_seal, previous_secret, previous_secret_seal, previous_secret_until, headers, headers_seal, kinds, chats, media_links, active, created_at, updated_at"
	changedSettings = `url = excluded.url, secret = excluded.secret,
		secret_seal = excluded.secret_seal, previous_secret = excluded.previous_secret,
		previous_secret_seal = excluded.previous_secret_seal, previous_secret_until = excluded.previous_secret_until,
		headers = excluded.headers, headers_seal = excluded.headers_seal, kinds = excluded.kinds, chats = excluded.chats,
		media_links = excluded.media_links, active = excluded.active, updated_at = excluded.updated_at`
)

// places are what the secrets of a webhook are sealed for.
type places struct{ secret, previous, headers vault.Place }

// encode returns the values of settingsColumns.
func encode(v *vault.Vault, hook webhook.Webhook, sealed places) ([]any, error) {
	secret, secretSeal := v.SealText(sealed.secret, string(hook.Secret))
	previous, previousSeal := v.SealText(sealed.previous, string(hook.PreviousSecret))
	plain, err := encodeHeaders(hook.Headers)
	if err != nil {
		return nil, err
	}
	headers, headersSeal := v.SealText(sealed.headers, plain)
	kinds, err := table.Texts(hook.Filter.Kinds)
	if err != nil {
		return nil, err
	}
	chats, err := table.Texts(hook.Filter.Chats)
	if err != nil {
		return nil, err
	}
	return []any{
		hook.URL, secret, secretSeal, previous, previousSeal, table.Millis(hook.PreviousSecretUntil), headers, headersSeal,
		kinds, chats, hook.MediaLinks, hook.Active, table.Millis(hook.CreatedAt), table.Millis(hook.UpdatedAt),
	}, nil
}

// settingsRow is settingsColumns as they were read.
type settingsRow struct {
	secret, previous, headers, kinds, chats                            string
	secretSeal, previousSeal, headersSeal, until, createdAt, updatedAt int64
}

// columns returns where the values of settingsColumns go.
func (r *settingsRow) columns(hook *webhook.Webhook) []any {
	return []any{
		&hook.URL, &r.secret, &r.secretSeal, &r.previous, &r.previousSeal, &r.until, &r.headers, &r.headersSeal,
		&r.kinds, &r.chats, &hook.MediaLinks, &hook.Active, &r.createdAt, &r.updatedAt,
	}
}

// decode fills in what was read.
func (r *settingsRow) decode(ctx context.Context, v *vault.Vault, hook *webhook.Webhook, sealed places) error {
	hook.PreviousSecretUntil, hook.CreatedAt, hook.UpdatedAt = table.Time(r.until), table.Time(r.createdAt), table.Time(r.updatedAt)
	secret, err := v.OpenText(ctx, sealed.secret, r.secret, r.secretSeal)
	if err != nil {
		return err
	}
	previous, err := v.OpenText(ctx, sealed.previous, r.previous, r.previousSeal)
	if err != nil {
		return err
	}
	hook.Secret, hook.PreviousSecret = webhook.Secret(secret), webhook.Secret(previous)
	headers, err := v.OpenText(ctx, sealed.headers, r.headers, r.headersSeal)
	if err != nil {
		return err
	}
	var damaged [3]error
	hook.Headers, damaged[0] = decodeHeaders(headers)
	hook.Filter.Kinds, damaged[1] = decodeList(hook.Filter.Kinds, r.kinds)
	hook.Filter.Chats, damaged[2] = decodeList(hook.Filter.Chats, r.chats)
	if errors.Join(damaged[:]...) != nil {
		hook.Active = false // nobody knows what may go there; it is saved again, or deleted
	}
	return nil
}

// decodeList reads such a column. The first argument only says what it holds. An empty list
// is nil.
func decodeList[T ~string](_ []T, text string) ([]T, error) {
	var values []T
	if err := json.Unmarshal([]byte(text), &values); err != nil {
		return nil, fmt.Errorf("read a list: %w", err)
	}
	if len(values) == 0 {
		return nil, nil
	}
	return values, nil
}

// keptHeader is a header as its column has it.
type keptHeader struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// encodeHeaders makes the column of a webhook's own headers; it is empty if there are none.
func encodeHeaders(headers []webhook.Header) (string, error) {
	if len(headers) == 0 {
		return "", nil
	}
	kept := make([]keptHeader, len(headers))
	for n, header := range headers {
		kept[n] = keptHeader(header)
	}
	encoded, err := json.Marshal(kept)
	return string(encoded), err
}

func decodeHeaders(text string) ([]webhook.Header, error) {
	if text == "" {
		return nil, nil
	}
	var kept []keptHeader
	if err := json.Unmarshal([]byte(text), &kept); err != nil {
		return nil, fmt.Errorf("read the headers of a webhook: %w", err)
	}
	headers := make([]webhook.Header, len(kept))
	for n, header := range kept {
		headers[n] = webhook.Header(header)
	}
	return headers, nil
}
