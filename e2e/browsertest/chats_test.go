// Chats that are arranged: on the page as on the phone.

package browsertest_test

import (
	"testing"

	"github.com/recado-project/recado/internal/testkit"
)

// A chat is archived, pinned, muted and marked by buttons, and the phone has it so. What is done
// on the phone is on the open page.
func TestChatIsArranged(t *testing.T) {
	t.Parallel()
	w := start(t, testkit.Options{})
	id := w.Link(t, shopNumber)
	w.Phones.AwaitMessage(t, shopNumber, w.Phones.SendText(t, customerNumber, shopNumber, "Oi!"))
	const chat = customerNumber + "@s.whatsapp.net"
	p := w.owner()
	p.SetSize(1500, 900)
	p.Open("/instances/" + id + "/chats?chat=" + chat)
	p.AwaitText("#arranging button", "Mark as read")
	mark(p)

	p.ClickText("#arranging button", "Mark as read")
	p.AwaitText("#arranging button", "Mark as unread")
	p.ClickText("#arranging button", "Mark as unread")
	p.Await(`#inbox-chats [title="Marked as unread"]`)
	p.ClickText("#arranging button", "Pin")
	p.Await(`#inbox-chats [title="Pinned"]`)
	p.ClickText("#arranging summary", "Mute")
	p.ClickText("#muting button", "Until I unmute it")
	p.Await(`#inbox-chats [title="Muted"]`)
	if got := w.Phones.ChatState(t, shopNumber, chat); !got.Pinned || got.MutedUntil != "forever" || !got.MarkedUnread {
		t.Errorf("the phone has %+v", got)
	}
	p.ClickText("#arranging button", "Unmute")
	p.AwaitGone(`#inbox-chats [title="Muted"]`)
	p.ClickText("#arranging button", "Archive")
	p.Await(`#inbox-chats [title="Archived"]`)
	p.AwaitGone(`#inbox-chats [title="Pinned"]`)
	if got := w.Phones.ChatState(t, shopNumber, chat); !got.Archived || got.Pinned || got.MutedUntil != "" {
		t.Errorf("the phone has %+v", got)
	}

	w.Phones.ChangeChat(t, shopNumber, chat, map[string]any{"archived": false})
	p.AwaitGone(`#inbox-chats [title="Archived"]`)
	p.AwaitText("#arranging button", "Archive")
	stays(t, p)
	p.ClickText(".chips a", "Archived only")
	p.AwaitText("#inbox-chats", "No chat is like this.")

	p.Open("/audit")
	p.AwaitText("tbody", "archive "+chat)
}

// A label is put on a chat and taken off by a button, and the phone has it so. What is done on the
// phone is on the open page, and the chats with a label are listed alone.
func TestChatIsLabelled(t *testing.T) {
	t.Parallel()
	w := start(t, testkit.Options{})
	id := w.Link(t, shopNumber)
	w.Phones.AwaitMessage(t, shopNumber, w.Phones.SendText(t, customerNumber, shopNumber, "Oi!"))
	const chat = customerNumber + "@s.whatsapp.net"
	p := w.owner()
	p.SetSize(1500, 900)
	p.Open("/instances/" + id + "/chats?chat=" + chat)
	p.Await("#choosing summary")
	mark(p)
	p.Click("#choosing summary")
	p.AwaitText("#choosing", "This account has no labels yet.")
	w.Phones.SetLabel(t, shopNumber, "1", "Aguarda pagamento", 3)
	w.Phones.SetLabel(t, shopNumber, "2", "Entregue", 1)
	w.Phones.LabelChat(t, shopNumber, chat, "1", true)
	p.AwaitText("#inbox-chats .tag", "Aguarda pagamento")
	p.AwaitText(`#choosing [aria-pressed="false"]`, "Entregue")

	p.ClickText("#choosing button", "Entregue")
	p.AwaitText("#inbox-chats", "Entregue")
	p.AwaitText(`#choosing [aria-pressed="true"]`, "Entregue")
	p.ClickText("#choosing button", "Aguarda pagamento")
	p.AwaitText(`#choosing [aria-pressed="false"]`, "Aguarda pagamento")
	stays(t, p)
	if labels := w.Phones.Labels(t, shopNumber); len(labels["1"].Chats) != 0 || len(labels["2"].Chats) != 1 {
		t.Errorf("the phone has %+v", labels)
	}

	p.Open("/instances/" + id + "/chats")
	p.Choose("#label", "1")
	p.AwaitText("#inbox-chats", "No chat is like this.")
	p.Choose("#label", "2")
	p.AwaitText("#inbox-chats", "Oi!")
}
