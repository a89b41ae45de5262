// The audit list, for owners.

package signin

import (
	"cmp"

	"github.com/recado-project/recado/internal/dashboard/frame"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/user"
	"github.com/recado-project/recado/internal/web"
)

// auditView is the table.
type auditView struct {
	Rows          []auditRow
	Before, After string // the newest page and the next one; empty for none
}

// auditRow is one line of the table.
type auditRow struct {
	gateway.AuditEntry

	What web.Word
	How  string // the detail in words
}

// showAudit shows the table, newest first.
func (d *Door) showAudit(r *frame.Request) error {
	page := frame.PageOf(r.URL.Query())
	found, err := d.Users.ListAudit(r.Context(), r.Visitor.Actor, gateway.PageRequest{Page: page, Limit: rowsAtOnce})
	if err != nil {
		return err
	}
	view := auditView{}
	for _, entry := range found.Items {
		action := user.Action(entry.Action)
		view.Rows = append(view.Rows, auditRow{AuditEntry: entry, What: what(action), How: how(r, action, entry.Detail)})
	}
	view.Before, view.After = frame.Around("/audit", nil, page, rowsAtOnce, found.Total)
	return r.Page("audit", frame.View{Title: r.Text(web.Word("Audit log")), Section: "audit", Body: view})
}

// whats are the actions in words.
func whats() map[user.Action]web.Word {
	return map[user.Action]web.Word{
		user.ActionSignedIn:            web.Word("Signed in"),
		user.ActionSignedOut:           web.Word("Signed out"),
		user.ActionSignedOutEverywhere: web.Word("Signed out everywhere"),
		user.ActionSignInBlocked:       web.Word("Too many failed sign-ins"),
		user.ActionAddressBlocked:      web.Word("Too many failed sign-ins from one address"),
		user.ActionPasswordSet:         web.Word("Set the password with a link"),
		user.ActionPasswordChanged:     web.Word("Changed the password"),
		user.ActionPasskeyAdded:        web.Word("Added a passkey"),
		user.ActionPasskeyRemoved:      web.Word("Removed a passkey"),
		user.ActionUserInvited:         web.Word("Created a user"),
		user.ActionLinkMade:            web.Word("Created a link to set a password"),
		user.ActionRoleChanged:         web.Word("Changed a role"),
		user.ActionUserDeleted:         web.Word("Removed a user"),
		user.ActionInstanceCreated:     web.Word("Created an instance"),
		user.ActionInstanceChanged:     web.Word("Changed an instance"),
		user.ActionInstanceLinking:     web.Word("Requested a code to link an instance"),
		user.ActionInstancePasskey:     web.Word("Signed with an account's passkey"),
		user.ActionInstanceRestarted:   web.Word("Restarted an instance"),
		user.ActionInstanceStopped:     web.Word("Stopped an instance"),
		user.ActionInstanceLoggedOut:   web.Word("Logged out an instance"),
		user.ActionInstanceDeleted:     web.Word("Deleted an instance"),
		user.ActionMessageSent:         web.Word("Sent a message"),
		user.ActionMessageChanged:      web.Word("Changed a message"),
		user.ActionMessageQueued:       web.Word("Queued a message"),
		user.ActionMessageCancelled:    web.Word("Cancelled a message in the queue"),
		user.ActionQueueCancelled:      web.Word("Cancelled all messages in the queue"),
		user.ActionChatArranged:        web.Word("Arranged a chat"),
		user.ActionContactNamed:        web.Word("Named a contact"),
		user.ActionChannelChanged:      web.Word("Changed how a channel is followed"),
		user.ActionWebhookSaved:        web.Word("Saved a webhook"),
		user.ActionWebhookDeleted:      web.Word("Deleted a webhook"),
		user.ActionWebhookTested:       web.Word("Tested a webhook"),
		user.ActionWebhookResumed:      web.Word("Resumed a webhook"),
		user.ActionWebhookReplayed:     web.Word("Replayed events"),
		user.ActionAppSecretChanged:    web.Word("Changed the app secret"),
		user.ActionKeyCreated:          web.Word("Created an API key"),
		user.ActionKeyRevoked:          web.Word("Revoked an API key"),
	}
}

// what is an action in words; one that a newer program wrote stays as it is.
func what(action user.Action) web.Word {
	return cmp.Or(whats()[action], web.Word(action))
}

// how is the detail of an action in words, where it is one of ours.
func how(r *frame.Request, action user.Action, detail string) string {
	switch {
	case action == user.ActionUserInvited || action == user.ActionRoleChanged:
		return r.Text(roleName(gateway.Role(detail)))
	case action == user.ActionSignedIn && detail == "password":
		return r.Text(web.Word("with the password"))
	case action == user.ActionSignedIn && detail == "passkey":
		return r.Text(web.Word("with a passkey"))
	case action == user.ActionSignedIn && detail == "link":
		return r.Text(web.Word("with a link"))
	case action == user.ActionSignedIn && detail == "dev":
		return r.Text(web.Word("with the link printed by recado dev"))
	default:
		return detail
	}
}
