package storetest

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"go.uber.org/goleak"

	"github.com/recado-project/recado/internal/eventlog"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/seal"
	"github.com/recado-project/recado/internal/store"
	"github.com/recado-project/recado/internal/testkit/cases"
	"github.com/recado-project/recado/internal/testkit/database"
	"github.com/recado-project/recado/internal/testkit/postgres"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestSQLite(t *testing.T) {
	t.Parallel()
	testStore(t, func(t *testing.T) store.Config {
		t.Helper()
		return store.Config{Path: database.File(t)}
	})
}

func TestPostgreSQL(t *testing.T) {
	t.Parallel()
	postgres.Start(t) // one reason to skip them all
	testStore(t, func(t *testing.T) store.Config {
		t.Helper()
		return store.Config{URL: postgres.Start(t)}
	})
}

// With a master key, everything is as without.
func TestSealed(t *testing.T) {
	t.Parallel()
	testStore(t, func(t *testing.T) store.Config {
		t.Helper()
		return store.Config{Path: database.File(t), Master: seal.NewKey()}
	})
}

// testStore runs every test on an empty database, which empty makes.
func testStore(t *testing.T, empty func(t *testing.T) store.Config) {
	t.Helper()
	for name, test := range cases.Sorted(map[string]func(t *testing.T, f *fixture){
		"accounts":            testAccounts,
		"size":                testSize,
		"keys":                testKeys,
		"keys, used":          testTouchKey,
		"keys, spoken":        testNoteSpoken,
		"device keys":         testDeviceKeys,
		"device keys, kept":   testKeysOfAMessage,
		"instances":           testInstances,
		"instances, lists":    testListInstances,
		"instances, update":   testUpdateInstance,
		"instances, external": testExternalNames,
		"instances, at once":  testUpdateInstanceAtOnce,
		"instances, delete":   testDeleteInstance,
		"messages, retention": testMessageRetention,
		"messages":            testAddMessage,
		"messages, events":    testAddMessageWithEvents,
		"messages, accept":    testAcceptMessage,
		"messages, find":      testFindMessages,
		"messages, lists":     testListMessages,
		"messages, update":    testUpdateMessages,
		"messages, a field":   testUpdateEachField,
		"messages, at once":   testUpdateMessagesAtOnce,
		"messages, just sent": testRecentMessages,
		"messages, history":   testAddHistory,
		"messages, due reads": testDueReads,
		"messages, pending":   testPendingMessages,
		"chats":               testChats,
		"chats, joined":       testChatsAreJoined,
		"chats, lists":        testListChats,
		"chats, unread":       testUnread,
		"chats, arranged":     testArrangedChats,
		"chats, messages":     testChatMessages,
		"chats, search":       testSearchMessages,
		"chats, common word":  testSearchCommonWord,
		"chats, any words":    testAnyWords,
		"templates":           testTemplates,
		"labels":              testLabels,
		"labels, joined":      testLabelsAreJoined,
		"labels, bounded":     testLabelsAreBounded,
		"messages, new chat":  testChatKnown,
		"messages, people":    testListCorrespondence,
		"messages, traffic":   testCountTraffic,
		"messages, queued":    testQueue,
		"queue, idempotency":  testQueueIdempotency,
		"queue, pending":      testPendingInQueue,
		"queue, new chats":    testNewChats,
		"queue, sent of late": testSentSince,
		"uploads":             testUploads,
		"votes":               testVotes,
		"menus":               testMenus,
		"menus, joined":       testMenusAreJoined,
		"reactions":           testReactions,
		"presence":            testPresence,
		"changes, confirm":    testConfirmChange,
		"changes, remove":     testRemoveChanges,
		"events":              testEvents,
		"events, no source":   testEventsWithoutSource,
		"events, newest":      testNewestEvents,
		"events, of a chat":   testEventsOfChat,
		"events, at once":     testEventsAtOnce,
		"events, delete":      testDeleteEvents,
		"census":              testCensus,
		"registrations":       testRegistrations,
		"number checks":       testNumberChecks,
		"number checks, once": testNumberChecksAtOnce,
		"webhooks":            testWebhooks,
		"secrets":             testSecret,
		"users":               testUsers,
		"users, link":         testUserLink,
		"users, last owner":   testLastOwner,
		"sign-ins":            testSignIns,
		"passkeys":            testPasskeys,
		"audit":               testAudit,
		"idempotency":         testIdempotency,
		"idempotency, once":   testIdempotencyAtOnce,
		"idempotency, delete": testDeleteIdempotency,
	}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			config, bell := empty(t), new(eventlog.Bell)
			config.Bell, config.Logger = bell, slog.New(slog.DiscardHandler)
			opened, err := store.Open(t.Context(), config)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() {
				if err := opened.Close(); err != nil {
					t.Error(err)
				}
			})
			test(t, &fixture{t: t, Store: opened, bell: bell})
		})
	}
}

// fixture is a store with short ways to fill it.
type fixture struct {
	*store.Store

	t    *testing.T
	bell *eventlog.Bell // which the store rings
}

// start is the moment from which the times of a test are counted, in whole milliseconds,
// which is what columns hold.
func start() time.Time { return time.Date(2026, 11, 20, 14, 22, 10, 123e6, time.UTC) }

func after(n int) time.Time { return start().Add(time.Duration(n) * time.Second) }

func newID() string { return uuid.Must(uuid.NewV7()).String() }

func (f *fixture) check(err error) {
	f.t.Helper()
	if err != nil {
		f.t.Fatal(err)
	}
}

func (f *fixture) ctx() context.Context { return f.t.Context() }

func (f *fixture) account() gateway.Account {
	f.t.Helper()
	account := gateway.Account{ID: newID(), Name: newID(), CreatedAt: start()}
	f.check(f.CreateAccount(f.ctx(), account))
	return account
}

// instance adds an instance of an account, made n seconds after the start.
func (f *fixture) instance(accountID string, n int) gateway.Instance {
	f.t.Helper()
	instance := gateway.Instance{
		ID: newID(), AccountID: accountID, Name: "phone", Status: gateway.StatusCreated,
		Proxy: "socks5://ana:secret@proxy.example.org:1080", Label: gateway.DeviceLabel{Name: "Front desk", Kind: gateway.DeviceEdge},
		CreatedAt: after(n), UpdatedAt: after(n),
	}
	f.check(f.CreateInstance(f.ctx(), instance))
	return instance
}

// message makes a message of the instance to somebody, sent n seconds after
// the start. It is not added.
func (f *fixture) message(instance gateway.Instance, n int) gateway.Message {
	f.t.Helper()
	id := newID()
	return gateway.Message{
		ID: id, InstanceID: instance.ID, PlatformID: "3EB0" + strings.ToUpper(id[24:]),
		Chat:   gateway.Party{JID: "5511999990000@s.whatsapp.net"},
		Sender: gateway.Party{JID: "5511888880000@s.whatsapp.net"},
		FromMe: true, Source: gateway.SourceAPI, Type: gateway.TypeText, Text: "hello",
		SentAt: after(n), Payload: []byte("encoded"), CreatedAt: after(n),
	}
}

// accept adds a message that is about to be sent, and waits until it is kept.
func (f *fixture) accept(message gateway.Message, record *gateway.Idempotency) error {
	f.t.Helper()
	return f.AcceptMessage(f.ctx(), message, record)()
}

// get reads the one message with the internal id.
func (f *fixture) get(instance gateway.Instance, id string) gateway.Message {
	f.t.Helper()
	found, err := f.FindMessages(f.ctx(), instance.ID, id)
	f.check(err)
	if len(found) != 1 {
		f.t.Fatalf("%d messages have the id, want 1", len(found))
	}
	return found[0]
}

func wantKind(t *testing.T, err error, kind gateway.Kind, code string) {
	t.Helper()
	failure, ok := errors.AsType[*gateway.Error](err)
	if !ok || failure.Kind != kind || failure.Code != code {
		t.Errorf("answered %v, want %s", err, code)
	}
}
