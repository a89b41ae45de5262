package gateway_test

import (
	"testing"
	"time"

	"github.com/recado-project/recado/internal/gateway"
)

func TestKeyReaches(t *testing.T) {
	t.Parallel()
	instance := gateway.Instance{ID: "one", AccountID: "shop"}
	cases := map[string]struct {
		key  gateway.Key
		want bool
	}{
		"whole account":     {gateway.Key{AccountID: "shop"}, true},
		"named":             {gateway.Key{AccountID: "shop", InstanceIDs: []string{"two", "one"}}, true},
		"another is named":  {gateway.Key{AccountID: "shop", InstanceIDs: []string{"two"}}, false},
		"another account":   {gateway.Key{AccountID: "clinic"}, false},
		"named but foreign": {gateway.Key{AccountID: "clinic", InstanceIDs: []string{"one"}}, false},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := c.key.Reaches(instance); got != c.want {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
}

func TestKeyValid(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	cases := map[string]struct {
		key  gateway.Key
		want bool
	}{
		"for ever":       {gateway.Key{}, true},
		"not yet ended":  {gateway.Key{ExpiresAt: now.Add(time.Millisecond)}, true},
		"ends now":       {gateway.Key{ExpiresAt: now}, false},
		"revoked":        {gateway.Key{RevokedAt: now.Add(-time.Hour)}, false},
		"revoked, valid": {gateway.Key{RevokedAt: now, ExpiresAt: now.Add(time.Hour)}, false},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := c.key.Valid(now); got != c.want {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
}
