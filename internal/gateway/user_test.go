package gateway_test

import (
	"slices"
	"testing"

	"github.com/recado-project/recado/internal/gateway"
)

func TestRolesCoverEachOther(t *testing.T) {
	t.Parallel()
	roles := gateway.Roles()
	for i, role := range roles {
		for j, other := range roles {
			if role.Covers(other) != (i <= j) {
				t.Errorf("%s covers %s: %t", role, other, i > j)
			}
		}
		for _, unknown := range []gateway.Role{"", "admin", "Owner"} {
			if unknown.Covers(role) || role.Covers(unknown) || unknown.Covers(unknown) || slices.Contains(roles, unknown) {
				t.Errorf("%q counts as a role beside %s", unknown, role)
			}
		}
	}
}

// The key of a user works for the user's account alone.
func TestKeyOfAUser(t *testing.T) {
	t.Parallel()
	key := gateway.User{AccountID: "a", Name: "ana", Role: gateway.RoleOwner}.Key()
	if !key.Partner || !key.InScope(gateway.Instance{ID: "i", AccountID: "a"}) || key.InScope(gateway.Instance{ID: "i", AccountID: "b"}) {
		t.Errorf("the key is %+v", key)
	}
}
