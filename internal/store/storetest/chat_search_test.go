// What the search through the messages of a chat must find on both databases.

package storetest

import (
	"slices"
	"testing"

	"github.com/recado-project/recado/internal/eventlog"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/testkit/cases"
)

func testSearchMessages(t *testing.T, f *fixture) {
	t.Helper()
	account := f.account()
	instance, other := f.instance(account.ID, 1), f.instance(account.ID, 2)
	texts := []string{"Pedido 1042: amanhã", "O PEDIDO não chegou", "pedidos, café & açúcar", "olá", "foi: pedido-1042", "日本語 テスト", "I\u0307stanbul straße"}
	var messages []gateway.Message
	for n, text := range texts {
		messages = append(messages, f.came(instance, n, gateway.Party{JID: ana}, text))
		f.add(messages[n], true)
		f.add(f.came(instance, n, gateway.Party{JID: bia}, text), true)
		f.add(f.came(other, n, gateway.Party{JID: ana}, text), true)
	}
	chat := f.chat(instance, gateway.Party{JID: ana})
	search := func(step string, wants map[string][]int) {
		t.Helper()
		for text, want := range cases.Sorted(wants) {
			if got, total := f.read(messages, chat, gateway.MessageFilter{Search: text}, allOf()); !slices.Equal(got, want) || total != len(want) {
				t.Errorf("%s: %q finds %v of %d, want %v", step, text, got, total, want)
			}
		}
	}
	search("at once", map[string][]int{"pedido": {4, 2, 1, 0}, "PEDIDO nao": {1}, "edido": nil})
	f.check(f.Chats.CatchUp(f.ctx()))
	search("at first", map[string][]int{
		"pedido": {4, 2, 1, 0}, "PEDIDO nao": {1}, "1042 pedido": {4, 0}, "ped": {4, 2, 1, 0}, "edido": nil, "acucar": {2}, "CAFÉ açúcar": {2},
		"amanha": {0}, "日本": {5}, "istanbul": {6}, "nothing": nil, "...": nil, "pedido nothing": nil, "ola": {3},
	})
	if got, total := f.read(messages, chat, gateway.MessageFilter{Search: "pedido", Before: messages[4].Position(), OldestFirst: true}, gateway.PageRequest{Page: 2, Limit: 2}); !slices.Equal(got, []int{2}) || total != 3 {
		t.Errorf("a page of what is found has %v of %d", got, total)
	}
	if got, total := f.read(messages, chat, gateway.MessageFilter{Search: "pedido", Before: messages[4].Position()}, gateway.PageRequest{Page: 3, Limit: 2}); len(got) != 0 || total != 3 {
		t.Errorf("behind the last page are %v of %d", got, total)
	}

	change := func(n int, text string) {
		t.Helper()
		f.check(f.UpdateMessages(f.ctx(), instance.ID, []string{messages[n].ID},
			func(found []gateway.Message) ([]gateway.Message, []eventlog.Event, error) {
				found[0].Text = text
				return found, nil, nil
			}))
	}
	late := f.came(instance, 90, gateway.Party{JID: ana}, "pedido tarde")
	messages = append(messages, late)
	f.add(late, true)
	change(1, "chegou")
	change(3, "pedido também")
	change(4, "")
	change(7, "tarde demais")
	f.check(f.DeleteMessages(f.ctx(), instance.ID, []string{messages[0].ID}))
	f.check(f.Chats.CatchUp(f.ctx()))
	search("later", map[string][]int{"pedido": {3, 2}, "chegou": {1}, "1042": nil, "tarde": {7}})

	// The newest messages are removed, and what comes next is found all the same.
	f.check(f.DeleteMessages(f.ctx(), instance.ID, []string{late.ID}))
	next := f.came(instance, 91, gateway.Party{JID: ana}, "pedido novo")
	messages = append(messages, next)
	f.add(next, true)
	f.check(f.Chats.CatchUp(f.ctx()))
	search("at last", map[string][]int{"novo": {8}, "tarde": nil})
}

// A word that many messages have is looked for among the newest, and what is found is the same: where it is in every
// second message, and where nobody has said it for long.
func testSearchCommonWord(t *testing.T, f *fixture) {
	t.Helper()
	instance := f.instance(f.account().ID, 1)
	const many, since = 1_200, 2_800
	var messages []gateway.Message
	for n := range many + since {
		text := "bom dia"
		if n < many && n%2 == 0 {
			text = "pedido"
		}
		messages = append(messages, f.came(instance, n, gateway.Party{JID: ana}, text))
	}
	for part := range slices.Chunk(messages[:many], 600) {
		f.check(f.AddHistory(f.ctx(), instance.ID, part))
	}
	chat := f.chat(instance, gateway.Party{JID: ana})
	search := func(step string) {
		t.Helper()
		f.check(f.Chats.CatchUp(f.ctx()))
		for name, c := range cases.Sorted(map[string]struct {
			filter gateway.MessageFilter
			page   gateway.PageRequest
			want   []int
			total  int
		}{
			"first page":       {gateway.MessageFilter{}, gateway.PageRequest{Page: 1, Limit: 3}, []int{1198, 1196, 1194}, 600},
			"page in between":  {gateway.MessageFilter{}, gateway.PageRequest{Page: 100, Limit: 3}, []int{604, 602, 600}, 600},
			"last page":        {gateway.MessageFilter{}, gateway.PageRequest{Page: 200, Limit: 3}, []int{4, 2, 0}, 600},
			"behind the last":  {gateway.MessageFilter{}, gateway.PageRequest{Page: 201, Limit: 3}, nil, 600},
			"oldest first":     {gateway.MessageFilter{OldestFirst: true}, gateway.PageRequest{Page: 2, Limit: 3}, []int{6, 8, 10}, 600},
			"before a message": {gateway.MessageFilter{Before: messages[1100].Position()}, gateway.PageRequest{Page: 1, Limit: 2}, []int{1098, 1096}, 550},
			"after a message":  {gateway.MessageFilter{After: messages[99].Position(), OldestFirst: true}, gateway.PageRequest{Page: 1, Limit: 2}, []int{100, 102}, 550},
		}) {
			c.filter.Search = "PEDI"
			if got, total := f.read(messages, chat, c.filter, c.page); !slices.Equal(got, c.want) || total != c.total {
				t.Errorf("%s, %s: finds %v of %d, want %v of %d", step, name, got, total, c.want, c.total)
			}
		}
	}
	search("said often")
	for part := range slices.Chunk(messages[many:], 600) {
		f.check(f.AddHistory(f.ctx(), instance.ID, part))
	}
	search("not said lately")
}

// What people type is never taken for a query of the database.
func testAnyWords(t *testing.T, f *fixture) {
	t.Helper()
	instance := f.instance(f.account().ID, 1)
	f.add(f.came(instance, 1, gateway.Party{JID: ana}, "near or not and"), true)
	f.check(f.Chats.CatchUp(f.ctx()))
	chat := f.chat(instance, gateway.Party{JID: ana})
	for _, text := range []string{
		`"`, `'`, `*`, `words:near`, `near AND`, `NOT near`, `near(`, `^near`, `near & !or`, `a:*b`, `\`, "near\x00or", "{chat}:x", `near" OR "x`,
		`' & '`, "\xff\xfe", ":*", "<->", "-", "chat:" + chat.ID, "ꙮ̈", "\u200d",
	} {
		if _, err := f.Chats.ListMessages(f.ctx(), instance.ID, gateway.MessageFilter{ChatID: chat.ID, Search: text}, allOf()); err != nil {
			t.Errorf("%q: %v", text, err)
		}
	}
	for text, want := range cases.Sorted(map[string]int{`near AND`: 1, `NOT near`: 1, `OR "near"`: 1, `"near"`: 1, `near OR x`: 0, "chat:" + chat.ID: 0, "near*": 1}) {
		if page, err := f.Chats.ListMessages(f.ctx(), instance.ID, gateway.MessageFilter{ChatID: chat.ID, Search: text}, allOf()); err != nil || page.Total != want {
			t.Errorf("%q finds %d, %v, want %d", text, page.Total, err, want)
		}
	}
}
