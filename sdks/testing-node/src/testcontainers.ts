// A gateway as a container of Testcontainers.
import { AbstractStartedContainer, GenericContainer, type StartedTestContainer, Wait } from 'testcontainers';
import { type Gateway, gatewayOf } from './index.js';
import type { Ready } from './program.js';

const port = 8080;

/**
 * A container of the image that RECADO_IMAGE names, by default `recado`, with a gateway and its simulated phones. It reaches programs
 * of the machine as host.docker.internal, if they do not listen on 127.0.0.1 alone.
 */
export class RecadoContainer extends GenericContainer {
  constructor(image = process.env.RECADO_IMAGE || 'recado') {
    super(image);
    this.withCommand(['dev', '--json'])
      .withExposedPorts(port)
      .withExtraHosts([{ host: 'host.docker.internal', ipAddress: 'host-gateway' }])
      .withWaitStrategy(Wait.forLogMessage(/"baseUrl":/));
  }

  /** Starts the container, and resolves when everything answers. */
  override async start(): Promise<StartedRecadoContainer> {
    const container = await super.start();
    let log = '';
    const logs = await container.logs();
    const ready = await new Promise<Ready>((resolve, reject) => {
      // It also keeps Node running, which the log of a container does not.
      const late = setTimeout(() => reject(new Error(`The container said nothing of its gateway:\n${log}`)), 10_000);
      logs.on('data', (piece: string) => {
        log = (log + piece).slice(-20_000);
        const found = /^\{.*"baseUrl":.*\}$/m.exec(log);
        if (!found) return;
        clearTimeout(late);
        resolve(JSON.parse(found[0]) as Ready);
      });
    }).catch(async (error) => {
      await container.stop();
      throw error;
    });
    ready.baseUrl = `http://${container.getHost()}:${container.getMappedPort(port)}`;
    const stop = async (): Promise<void> => {
      logs.destroy();
      await container.stop();
    };
    return new StartedRecadoContainer(container, gatewayOf({ ready, log: () => log, stop }));
  }
}

/** A container that is started. */
export class StartedRecadoContainer extends AbstractStartedContainer {
  /** What startGateway resolves to as well. Its stop stops the container. */
  readonly gateway: Gateway;

  /** @internal */
  constructor(container: StartedTestContainer, gateway: Gateway) {
    super(container);
    this.gateway = gateway;
  }
}
