package keys

import "testing"

// The list of groups that was kept last is read with and without a session, here and in another
// process, and is gone with the keys.
func TestGroupsAreKept(t *testing.T) {
	t.Parallel()
	kept := openStore(t)
	keys, elsewhere := newKeys(t, kept), newKeys(t, kept)
	want := func(when, list string) {
		t.Helper()
		for _, one := range []*Keys{keys, elsewhere} {
			if got, err := one.Groups(t.Context(), ownDevice); err != nil || string(got) != list || (got == nil) != (list == "") {
				t.Errorf("%s: the list is %q, want %q (%v)", when, got, list, err)
			}
		}
	}
	fresh, err := keys.Load(t.Context(), instanceID, "")
	check(t, err)
	check(t, KeepGroups(t.Context(), fresh, []byte("nobody's")))
	want("before the link", "")
	device := linkDevice(t, keys)
	want("never listed", "")
	check(t, KeepGroups(t.Context(), device, []byte("[1]")))
	want("listed", "[1]")
	check(t, KeepGroups(t.Context(), device, []byte("[1,2]")))
	want("listed again", "[1,2]")
	check(t, device.Sessions.PutSession(t.Context(), "1:0", []byte(before))) // nobody has taken the keys
	check(t, keys.Release(t.Context(), device))
	want("without a session", "[1,2]")
	check(t, KeepGroups(t.Context(), device, nil))
	want("too long to keep", "")
	check(t, KeepGroups(t.Context(), device, []byte("[1]")))
	check(t, keys.Forget(t.Context(), ownDevice))
	want("logged out", "")
	if err := KeepGroups(t.Context(), device, []byte("[1]")); err == nil {
		t.Error("a list of a device that is gone was kept")
	}
}
