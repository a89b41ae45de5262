package doctor

import (
	"slices"
	"strings"
	"testing"

	"github.com/recado-project/recado/internal/testkit/cases"
)

// The lines of two mounts of one device, and of others; the last one is on top.
const mounts = `21 28 0:19 / /sys rw,nosuid - sysfs sysfs rw
28 1 259:1 / / rw,relatime shared:1 - ext4 /dev/root rw,nobarrier
40 28 0:45 / /srv/a\040b rw,relatime shared:3 master:1 - nfs4 10.0.0.1:/export rw,vers=4.2
41 28 0:45 / /srv/c rw,relatime - nfs4 10.0.0.1:/export rw,vers=4.2,soft
nonsense
`

func TestMounted(t *testing.T) {
	t.Parallel()
	for device, want := range cases.Sorted(map[string]fileSystem{
		"259:1": {Kind: "ext4", Options: []string{"rw", "relatime", "rw", "nobarrier"}},
		"0:45":  {Kind: "nfs4", Options: []string{"rw", "relatime", "rw", "vers=4.2", "soft"}},
		"1:1":   {},
	}) {
		kind, options, err := mounted(strings.NewReader(mounts), device)
		if err != nil || kind != want.Kind || !slices.Equal(options, want.Options) {
			t.Errorf("%s: %s, %v, %v", device, kind, options, err)
		}
	}
	if (fileSystem{Options: []string{"rw", "barrier=0"}}).skipsCache() == (fileSystem{Options: []string{"rw", "barrier=1"}}).skipsCache() {
		t.Error("barriers make no difference")
	}
}

func TestLook(t *testing.T) {
	t.Parallel()
	found, err := lookAtFileSystem("/proc")
	if err != nil || found.Kind != "proc" || found.isRemote() || found.isMemory() {
		t.Errorf("/proc: %+v, %v", found, err)
	}
	if _, err := lookAtFileSystem("/not/there"); err == nil {
		t.Error("a folder that is not there was found")
	}
}
