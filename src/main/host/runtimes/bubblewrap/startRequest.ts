import type { BaseEntry } from './baseFiles.ts'
import { buildBwrapArguments, descriptors, getMaskedFiles } from './bwrapArguments.ts'
import { buildFirstProcess } from './firstProcess.ts'
import { countIds } from './idBlocks.ts'
import type { IdRange } from './images/idRange.ts'
import type { SandboxFolder, SandboxStorage } from './sandboxFolder.ts'
import { type SandboxLayers, sandboxLayers } from './sandboxLayers.ts'
import { type SandboxView, visibleFiles } from './sandboxView.ts'
import { buildSeccompFilters } from './seccomp/seccompFilter.ts'

type EntryFields = readonly [kind: BaseEntry['kind'], path: string, value: string]

/**
 * Host identity of a sandbox's root: a uid of this computer if Steward runs as root, otherwise the number `uid` in the
 * user namespace that process `holder` has open. Undefined stands for the user that runs Steward.
 */
export type SandboxUser = { uid: number; holder: number | undefined }

/** Arguments of `launch` in `start.pl`. */
export type LaunchRequest = {
  cgroups: readonly string[]
  uid: number | null
  ids: number
  users: number | null
  storage: { kind: SandboxStorage['kind']; path: string; template: string | null }
  doorway: string
  image: { root: string; range: IdRange } | null
  entries: readonly EntryFields[]
  files: readonly (readonly [descriptor: number, content: string])[]
  outer_filter: string | null
  command: readonly string[]
}

/** Arguments of `ward` in `supervisor.pl`. */
export type StartRequest = LaunchRequest & {
  folder: string
  /** Descriptor to which bwrap writes the process that it has started. */
  info: number
  keep: number
  processes: number
  inner_filter: string | null
  terminals: number
  processors: readonly number[]
  view: SandboxView
  without: readonly string[]
}

/** Existing folder that is not needed inside. The sandbox's folder is mounted over it, visible only to bwrap. */
export const hiddenMountPoint = '/tmp'

/** Linux capabilities of a typical container, numbered as in capability(7). */
const retainedCapabilities = [
  0, // CHOWN
  1, // DAC_OVERRIDE
  3, // FOWNER
  4, // FSETID
  5, // KILL
  6, // SETGID
  7, // SETUID
  8, // SETPCAP
  10, // NET_BIND_SERVICE
  18, // SYS_CHROOT
  29, // AUDIT_WRITE
  31, // SETFCAP
]
/** Sum of 64-bit flags. All bits are low enough for an exact JavaScript number. */
const keep = retainedCapabilities.reduce((mask, capability) => mask + 2 ** capability, 0)
/** Used only by a test that removes the layer `no-raw-sockets`. */
const rawSockets = 2 ** 13

/**
 * Limit of pseudo-terminals per sandbox. Covers 64 sessions and many terminals created by programs. All sandboxes share
 * 3,072.
 */
const maxTerminals = 256

export function toLaunchRequest(launch: {
  cgroups: readonly string[]
  folder: Pick<SandboxFolder, 'image' | 'storage'>
  user: SandboxUser | undefined
  image: { root: string; range: IdRange } | undefined
  entries: readonly BaseEntry[]
  command: readonly string[]
}): LaunchRequest {
  const { image, storage } = launch.folder
  const template = storage.kind === 'image' ? (storage.template ?? null) : null
  return {
    cgroups: launch.cgroups,
    uid: launch.user?.uid ?? null,
    ids: countIds(image),
    users: launch.user?.holder ?? null,
    storage: { kind: storage.kind, path: storage.path, template },
    doorway: hiddenMountPoint,
    image: launch.image ?? null,
    entries: launch.entries.map(toEntryFields),
    files: [],
    outer_filter: null,
    command: launch.command,
  }
}

export function toStartRequest(start: {
  launch: LaunchRequest
  bwrap: { program: string; arguments: Omit<Parameters<typeof buildBwrapArguments>[0], 'content' | 'parts'> }
  folder: SandboxFolder
  processes: number
  processors: readonly number[]
  view: SandboxView
  layers: SandboxLayers
}): StartRequest {
  const { launch, bwrap, folder, layers } = start
  const filters = buildSeccompFilters()
  const inner = layers.has('inner-filter') ? (filters?.inner ?? null) : null
  const isStatic = layers.has('static-init')
  const masked = getMaskedFiles()
  const content = launch.uid === null && !launch.image ? folder.storage.path : hiddenMountPoint
  return {
    ...launch,
    files: [
      [descriptors.firstProcess, buildFirstProcess()?.toString('hex') ?? ''] as const,
      ...(inner === null ? [] : [[descriptors.filter, inner] as const]),
      ...visibleFiles.map((_, index) => [descriptors.visible + index, ''] as const),
      ...masked.map((_, index) => [descriptors.masked + index, ''] as const),
    ],
    outer_filter: layers.has('outer-filter') ? (filters?.outer ?? null) : null,
    command: [
      bwrap.program,
      ...buildBwrapArguments({
        ...bwrap.arguments,
        content,
        parts: { filter: inner !== null, firstProcess: isStatic, masked },
      }),
    ],
    folder: folder.path,
    info: descriptors.info,
    keep: layers.has('no-raw-sockets') ? keep : keep + rawSockets,
    processes: start.processes,
    inner_filter: inner,
    terminals: maxTerminals,
    processors: start.processors,
    view: start.view,
    without: sandboxLayers.filter((layer) => !layers.has(layer)),
  }
}

/** Returns the arguments of `put_entry`. */
export function toEntryFields(entry: BaseEntry): EntryFields {
  if (entry.kind === 'folder') return [entry.kind, entry.path, entry.mode.toString(8)]
  return [entry.kind, entry.path, entry.kind === 'link' ? entry.target : String(entry.content)]
}
