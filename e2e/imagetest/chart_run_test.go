//go:build linux

package imagetest_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/recado-project/recado/client"
	"github.com/recado-project/recado/internal/testkit/await"
	"github.com/recado-project/recado/internal/testkit/cases"
	"github.com/recado-project/recado/internal/testkit/postgres"
)

// statefulSet is what the tests need of one.
type statefulSet struct {
	Spec struct {
		Replicas int `json:"replicas"`
		Template struct {
			Spec struct {
				Security struct {
					User       int `json:"runAsUser"`
					Group      int `json:"runAsGroup"`
					FilesGroup int `json:"fsGroup"`
				} `json:"securityContext"`
				Grace      int            `json:"terminationGracePeriodSeconds"`
				Containers []podContainer `json:"containers"`
			} `json:"spec"`
		} `json:"template"`
	} `json:"spec"`
}

// podContainer is what runs in a pod.
type podContainer struct {
	Security struct {
		ReadOnly bool `json:"readOnlyRootFilesystem"`
	} `json:"securityContext"`
	Env []struct {
		Name      string `json:"name"`
		Value     string `json:"value"`
		ValueFrom *struct {
			SecretKeyRef *struct {
				Name string `json:"name"`
				Key  string `json:"key"`
			} `json:"secretKeyRef"`
		} `json:"valueFrom"`
	} `json:"env"`
	Ports []struct {
		Name          string `json:"name"`
		ContainerPort int    `json:"containerPort"`
	} `json:"ports"`
	VolumeMounts []struct {
		Name      string `json:"name"`
		MountPath string `json:"mountPath"`
	} `json:"volumeMounts"`
	ReadinessProbe probe `json:"readinessProbe"`
	LivenessProbe  probe `json:"livenessProbe"`
	StartupProbe   probe `json:"startupProbe"`
}

// probe is a question to a pod.
type probe struct {
	HTTPGet struct {
		Path string `json:"path"`
		Port string `json:"port"`
	} `json:"httpGet"`
}

// pods returns what the chart makes of values, as services of a cluster, and the StatefulSet.
func pods(t *testing.T, given values) (map[string]composed, statefulSet) {
	t.Helper()
	r := helm(t, map[string]values{"it": given}, "").Cases["it"]
	var set statefulSet
	var secret struct {
		Metadata struct {
			Name string `json:"name"`
		} `json:"metadata"`
		StringData map[string]string `json:"stringData"`
	}
	r.find(t, "StatefulSet", &set)
	r.find(t, "Secret", &secret)
	one := set.Spec.Template.Spec.Containers[0]
	all := map[string]composed{}
	for i := range set.Spec.Replicas {
		name := fmt.Sprintf("recado-%d", i)
		s := composed{Image: ourImage, Environment: map[string]string{}}
		for _, v := range one.Env {
			switch {
			case v.ValueFrom == nil:
				s.Environment[v.Name] = strings.ReplaceAll(v.Value, "$(POD_NAME)", name)
			case v.ValueFrom.SecretKeyRef != nil && v.ValueFrom.SecretKeyRef.Name == secret.Metadata.Name:
				s.Environment[v.Name] = secret.StringData[v.ValueFrom.SecretKeyRef.Key]
			}
		}
		for _, mount := range one.VolumeMounts {
			s.Volumes = append(s.Volumes, volume{Type: "volume", Source: name, Target: mount.MountPath})
		}
		all[name] = s
	}
	return all, set
}

// awaitProbe asks a pod as Kubernetes does, until it says yes.
func (c *cluster) awaitProbe(t *testing.T, pod string, one podContainer, p probe) {
	t.Helper()
	port := 0
	for _, named := range one.Ports {
		if named.Name == p.HTTPGet.Port {
			port = named.ContainerPort
		}
	}
	await.Until(t, pod+" answers "+p.HTTPGet.Path, func() bool {
		status, _ := fetch(t, fmt.Sprintf("http://%s:%d%s", c.address(pod), port, p.HTTPGet.Path))
		return status == http.StatusOK
	})
}

// The pods of the chart work together with the settings that they get: they answer their
// probes, reach each other by their names, and end within their time.
func TestChartWorks(t *testing.T) { //nolint:paralleltest // it wants the processors for itself
	services, set := pods(t, threeNodes().with(values{"drainSeconds": 1}))
	fromCompose, err := readWithCompose(t, clusterFile, secrets()...)
	if err != nil {
		t.Fatal(err)
	}
	services["files"] = fromCompose["files"]
	handsets, platform := startSandbox(t)
	c := newCluster(t, services, postgres.Start(t), platform)
	c.beginFiles(t)
	one, begun := set.Spec.Template.Spec.Containers[0], map[string]*running{}
	for i := range set.Spec.Replicas {
		name := fmt.Sprintf("recado-%d", i)
		c.hosts[name+".recado-nodes.chat.svc"] = name
		begun[name] = c.begin(t, name)
	}
	for name, pod := range cases.Sorted(begun) {
		pod.line(t, "recado ")
		for _, p := range []probe{one.StartupProbe, one.LivenessProbe, one.ReadinessProbe} {
			c.awaitProbe(t, name, one, p)
		}
	}
	key := strings.TrimSpace(run(t, stepWait, c.command(t, "recado-0", "/recado", "keys", "create", "--name", "ops", "--partner")))
	through := func(pod string) *client.Client { return client.New("http://"+c.address(pod)+":8080", key) }
	shop := link(t, through("recado-0"), handsets, "5511999990201")
	listed := run(t, stepWait, c.command(t, "recado-0", "/recado", "nodes"))
	for name := range cases.Sorted(begun) {
		if !strings.Contains(listed, c.address(name)+":8080") {
			t.Errorf("the nodes are\n%s\nand not %s", listed, name)
		}
		send(t.Context(), t, through(name), shop)
	}
	began := time.Now()
	if err := begun["recado-0"].terminate(); err != nil {
		t.Errorf("the pod did not stop cleanly: %v", err)
	}
	if took := time.Since(began); took > time.Duration(set.Spec.Template.Spec.Grace)*time.Second {
		t.Errorf("the pod needed %s to stop, and is killed after %d s", took, set.Spec.Template.Spec.Grace)
	}
	send(t.Context(), t, through("recado-1"), shop)
}

// A gateway on SQLite needs no more than its volume and a master key.
func TestChartWorksWithOneGateway(t *testing.T) { //nolint:paralleltest // as above
	services, set := pods(t, oneGateway())
	_, platform := startSandbox(t)
	c := newCluster(t, services, "", platform)
	pod := c.begin(t, "recado-0")
	pod.line(t, "recado ")
	one := set.Spec.Template.Spec.Containers[0]
	c.awaitProbe(t, "recado-0", one, one.ReadinessProbe)
	key := strings.TrimSpace(run(t, stepWait, c.command(t, "recado-0", "/recado", "keys", "create", "--name", "ops", "--partner")))
	if _, err := client.New("http://"+c.address("recado-0")+":8080", key).ListInstances(t.Context(), client.ListInstancesParams{}, 1, 1); err != nil {
		t.Error(err)
	}
}
