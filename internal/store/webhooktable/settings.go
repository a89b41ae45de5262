// The columns that the webhooks of instances and of accounts have in common.

package webhooktable

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/recado-project/recado/internal/store/table"
	"github.com/recado-project/recado/internal/store/vault"
	"github.com/recado-project/recado/internal/webhook"
)

// settingsRow is the configuration of a webhook, as its row has it.
type settingsRow struct {
	hook                                    webhook.Webhook
	secret, previous, headers, kinds, chats string
	secretSeal, previousSeal, headersSeal   int64
}

//nolint:gochecknoglobals // a table, and what is made of it
var (
	settingsColumns = table.Of(
		table.Text("url", func(r *settingsRow) *string { return &r.hook.URL }),
		table.Text("secret", func(r *settingsRow) *string { return &r.secret }),
		table.Number("secret_seal", func(r *settingsRow) *int64 { return &r.secretSeal }),
		table.Text("previous_secret", func(r *settingsRow) *string { return &r.previous }),
		table.Number("previous_secret_seal", func(r *settingsRow) *int64 { return &r.previousSeal }),
		table.Moment("previous_secret_until", func(r *settingsRow) *time.Time { return &r.hook.PreviousSecretUntil }),
		table.Text("headers", func(r *settingsRow) *string { return &r.headers }),
		table.Number("headers_seal", func(r *settingsRow) *int64 { return &r.headersSeal }),
		table.Text("kinds", func(r *settingsRow) *string { return &r.kinds }),
		table.Text("chats", func(r *settingsRow) *string { return &r.chats }),
		table.Flag("media_links", func(r *settingsRow) *bool { return &r.hook.MediaLinks }),
		table.Text("format", func(r *settingsRow) *string { return &r.hook.Format }),
		table.Flag("active", func(r *settingsRow) *bool { return &r.hook.Active }),
		table.Moment("created_at", func(r *settingsRow) *time.Time { return &r.hook.CreatedAt }),
		table.Moment("updated_at", func(r *settingsRow) *time.Time { return &r.hook.UpdatedAt }),
	)

	changedSettings = settingsColumns.Without("created_at").Excluded()
)

func encode(v *vault.Vault, hook webhook.Webhook, cells vault.WebhookCells) (settingsRow, error) {
	r := settingsRow{hook: hook, kinds: table.Texts(hook.Filter.Kinds), chats: table.Texts(hook.Filter.Chats)}
	headers, err := encodeHeaders(hook.Headers)
	if err != nil {
		return r, err
	}
	r.secret, r.secretSeal = v.SealText(cells.Secret, string(hook.Secret))
	r.previous, r.previousSeal = v.SealText(cells.Previous, string(hook.PreviousSecret))
	r.headers, r.headersSeal = v.SealText(cells.Headers, headers)
	return r, nil
}

func (r *settingsRow) decode(ctx context.Context, v *vault.Vault, cells vault.WebhookCells) (webhook.Webhook, error) {
	hook := r.hook
	secret, err := v.OpenText(ctx, cells.Secret, r.secret, r.secretSeal)
	if err != nil {
		return hook, err
	}
	previous, err := v.OpenText(ctx, cells.Previous, r.previous, r.previousSeal)
	if err != nil {
		return hook, err
	}
	hook.Secret, hook.PreviousSecret = webhook.Secret(secret), webhook.Secret(previous)
	headers, err := v.OpenText(ctx, cells.Headers, r.headers, r.headersSeal)
	if err != nil {
		return hook, err
	}
	damaged := errors.Join(
		decodeList(&hook.Headers, cmp.Or(headers, table.NoTexts)),
		decodeList(&hook.Filter.Kinds, r.kinds),
		decodeList(&hook.Filter.Chats, r.chats),
	)
	if damaged != nil {
		hook.Active = false // nobody knows what may go there; it is saved again, or deleted
	}
	return hook, nil
}

// decodeList reads a column with a list. One that is empty or damaged is nil.
func decodeList[T any](into *[]T, text string) error {
	err := json.Unmarshal([]byte(text), into)
	if err != nil || len(*into) == 0 {
		*into = nil
	}
	return err
}

// encodeHeaders makes the column of a webhook's own headers; it is empty if there are none.
func encodeHeaders(headers []webhook.Header) (string, error) {
	if len(headers) == 0 {
		return "", nil
	}
	encoded, err := json.Marshal(headers)
	return string(encoded), err
}
