package api_test

import (
	"testing"
	"time"

	"github.com/recado-project/recado/internal/chat"
	"github.com/recado-project/recado/internal/instance"
	"github.com/recado-project/recado/internal/label"
	"github.com/recado-project/recado/internal/store"
)

func newLabelKeeper(tb testing.TB, data *store.Store) *label.Keeper {
	tb.Helper()
	keeper, err := label.NewKeeper(data)
	if err != nil {
		tb.Fatal(err)
	}
	return keeper
}

func newLabels(tb testing.TB, data *store.Store, chats *chat.Service, sessions *instance.Service) *label.Service {
	tb.Helper()
	made, err := label.New(label.Config{Store: data, Chats: chats, Sessions: sessions, Keeper: newLabelKeeper(tb, data), Now: time.Now})
	if err != nil {
		tb.Fatal(err)
	}
	return made
}
