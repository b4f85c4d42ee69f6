import { randomBytes } from 'node:crypto'
import type { DefaultNetwork, Sandbox } from '#shared/contract/sandboxes.ts'
import { createActivityRoutes } from '../activity/activityRoutes.ts'
import type { Endpoint } from '../base/endpoint.ts'
import { createDownloadRoutes } from '../files/downloadRoutes.ts'
import { createFileRoutes } from '../files/fileRoutes.ts'
import { createTreeRoutes } from '../files/treeRoutes.ts'
import { createUploadRoutes } from '../files/uploadRoutes.ts'
import type { Uploads } from '../files/uploads.ts'
import type { FoundSandboxes } from '../foundSandboxes/foundSandboxes.ts'
import { createFoundSandboxRoutes } from '../foundSandboxes/foundSandboxRoutes.ts'
import type { HostCall } from '../host/hostCalls.ts'
import type { HostConnection } from '../host/hostConnection.ts'
import { createHostRoutes } from '../host/hostRoutes.ts'
import type { RuntimeReports } from '../host/runtimeReports.ts'
import type { SandboxUse } from '../idle/sandboxUse.ts'
import { createImageRoutes } from '../images/imageRoutes.ts'
import type { Images } from '../images/images.ts'
import { createMetricsRoutes } from '../metrics/metricsRoutes.ts'
import { createProcessRoutes } from '../metrics/processRoutes.ts'
import { openPath } from '../portProxy/previewPages.ts'
import { createPortRoutes } from '../ports/portRoutes.ts'
import { createRemovedThingRoutes } from '../references/removedThingRoutes.ts'
import { createSandboxDomainRoutes } from '../sandboxDomains/sandboxDomainRoutes.ts'
import type { SandboxRegistry } from '../sandboxes/sandboxRegistry.ts'
import type { SandboxRecord } from '../sandboxes/sandboxRepository.ts'
import { createSandboxRoutes } from '../sandboxes/sandboxRoutes.ts'
import { createSnapshotRoutes } from '../snapshots/snapshotRoutes.ts'
import type { Snapshots } from '../snapshots/snapshots.ts'
import type { TerminalActivity } from '../terminals/terminalActivity.ts'
import type { TerminalLinks } from '../terminals/terminalLinks.ts'
import { createTerminalRoutes } from '../terminals/terminalRoutes.ts'
import type { PortModule } from './composePorts.ts'
import type { ServiceContext } from './serviceContext.ts'

/** Features of sandboxes, as far as routes use them. */
export type SandboxSlices = {
  sandboxes: SandboxRegistry
  foundSandboxes: FoundSandboxes
  snapshots: Snapshots
  images: Images
  runtimes: RuntimeReports
  ports: PortModule
  uploads: Uploads
  links: TerminalLinks
  terminalActivity: TerminalActivity
  host: HostConnection
  use: SandboxUse
  /** Calls the host. Each call counts as a use of the sandbox. */
  call: HostCall
  toWire: (record: SandboxRecord) => Promise<Sandbox>
  defaultNetwork: DefaultNetwork
}

/** Creates all routes of sandboxes and of their contents. */
export function createSandboxEndpoints(
  { options, store, activity, callers, address }: ServiceContext,
  slices: SandboxSlices,
): Endpoint[] {
  const { sandboxes, snapshots, runtimes, host, use, call, toWire, defaultNetwork } = slices
  const { names, ports, tokens, frames, domains } = slices.ports
  return callers.bindEndpoints([
    ...createImageRoutes(slices.images),
    ...createSandboxRoutes({ sandboxes, runtimes, defaultNetwork, call, activity, toWire }),
    ...createHostRoutes(host),
    ...createFoundSandboxRoutes({ found: slices.foundSandboxes, toWire }),
    ...createSnapshotRoutes({ snapshots, toWire }),
    ...createPortRoutes({ sandboxes, read: store.read, ports, tokens, frames, urlOf: names.getUrl, openPath }),
    ...createSandboxDomainRoutes({ sandboxes, domains }),
    ...createFileRoutes({ sandboxes, call, activity }),
    ...createTreeRoutes({ sandboxes, call }),
    ...createDownloadRoutes({ sandboxes, call, archive: use.trackArchive((...request) => host.archive(...request)) }),
    ...createUploadRoutes({ sandboxes, uploads: slices.uploads }),
    ...createTerminalRoutes({
      sandboxes,
      links: slices.links,
      call,
      activity: slices.terminalActivity,
      baseUrl: address.base,
      newTerminalId: () => `pty_${randomBytes(12).toString('hex')}`,
    }),
    ...createMetricsRoutes({ sandboxes, call, now: options.now }),
    ...createProcessRoutes({ sandboxes, call }),
    ...createActivityRoutes({ sandboxes, activity }),
    ...createRemovedThingRoutes(store.read),
  ])
}
