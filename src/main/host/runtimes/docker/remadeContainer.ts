import type { ContainerInspectInfo } from 'dockerode'
import { parseJson } from '#platform/parsing/boundedJson.ts'
import { SandboxSpec } from '#shared/contract/hostIpc.ts'
import { buildContainerSettings, type ReusedVolume } from './containerSettings.ts'
import { type Containers, nextName } from './containers.ts'
import type { DockerSnapshots } from './dockerSnapshots.ts'
import { specLabel, toContainerName } from './ownership.ts'

type RecreateRequest = { owner: string; containers: Containers; snapshots: DockerSnapshots; signal: AbortSignal }

/**
 * Returns a container with this spec. Host name, network and limits are immutable, so the container is recreated from
 * its files if they differ.
 * @returns the container id
 */
export async function findMatchingContainer(
  { owner, containers, snapshots, signal }: RecreateRequest,
  inspection: ContainerInspectInfo,
  spec: SandboxSpec,
): Promise<string> {
  if (JSON.stringify(spec) === JSON.stringify(readSpec(inspection))) return inspection.Id
  const before = await snapshots.bases(spec.id)
  const files = snapshots.freshBase(spec.id)
  await snapshots.keep(inspection.Id, files, spec.id, signal)
  const next = await recreateContainer({ owner, containers, signal }, inspection, { spec, image: files })
  for (const reference of before) await snapshots.discard(reference)
  return next
}

/** Recreates the container of a sandbox from the same files with new settings. @returns the container id */
export async function recreateContainer(
  { owner, containers, signal }: Omit<RecreateRequest, 'snapshots'>,
  old: ContainerInspectInfo,
  { spec, image }: { spec: SandboxSpec; image: string },
): Promise<string> {
  const name = toContainerName(owner, spec.id)
  const settings = buildContainerSettings({ owner, spec, image, volumes: readVolumes(old) })
  // A previous attempt may have been interrupted.
  if (old.Name.endsWith(nextName(name))) await containers.rename(old.Id, name)
  else await containers.remove(nextName(name))
  const next = await containers.create({ ...settings, name: nextName(name) }, signal)
  await containers.remove(old.Id, 'kept')
  await containers.rename(next, name)
  return next
}

export function readSpec(inspection: ContainerInspectInfo): SandboxSpec | undefined {
  try {
    return SandboxSpec.parse(parseJson(inspection.Config.Labels[specLabel] ?? ''))
  } catch {
    return undefined // created by an earlier version
  }
}

function readVolumes({ Mounts }: ContainerInspectInfo): ReusedVolume[] {
  return Mounts.flatMap(({ Type, Name, Destination }) =>
    Type === 'volume' && Name !== undefined ? [{ name: Name, target: Destination }] : [],
  )
}
