import { AppWindow, Copy, Ellipsis, ExternalLink, Globe, KeyRound, Lock, Unplug } from 'lucide-react'
import { useState } from 'react'
import { copyText } from '#renderer/ui/copyText.ts'
import { IconButton } from '#renderer/ui/IconButton.tsx'
import { Menu, type MenuItem } from '#renderer/ui/Menu.tsx'
import { StatusDot } from '#renderer/ui/StatusDot.tsx'
import { notify } from '#renderer/ui/toast.tsx'
import type { ExposedPort } from '#shared/contract/ports.ts'
import type { SandboxId } from '#shared/ids.ts'
import { PortPreview } from './PortPreview.tsx'
import type { PortActions } from './usePorts.ts'

type PortRowProps = {
  sandboxId: SandboxId
  port: ExposedPort
  /** Whether a program listens on the port; undefined while unknown. */
  listening: boolean | undefined
  sandboxRuns: boolean
  actions: PortActions
}

export function PortRow({ sandboxId, port, listening, sandboxRuns, actions }: PortRowProps) {
  const [previewed, setPreviewed] = useState(false)
  const { url, visibility } = port
  const isPrivate = visibility === 'private'
  const Mark = isPrivate ? Lock : Globe
  const state = describeState(listening, sandboxRuns)
  return (
    <li className="group" data-port={port.port}>
      <div className="flex h-9 items-center gap-2">
        <StatusDot tone={listening ? 'positive' : 'neutral'} label={state} />
        <span className="min-w-0 flex-1 leading-4">
          <span className="flex items-center gap-1.5">
            <span className="font-medium text-text tabular-nums">{port.port}</span>
            <Mark aria-hidden className="size-3 text-faint" />
            <span className="truncate text-small text-faint">
              {isPrivate ? 'private' : 'public'} · {state}
            </span>
          </span>
          <span className="block truncate text-small text-faint" title={url}>
            {url.replace(/^https?:\/\//, '')}
          </span>
        </span>
        <IconButton
          label={`Preview port ${port.port} here`}
          icon={AppWindow}
          size="small"
          aria-pressed={previewed}
          onClick={() => setPreviewed(!previewed)}
        />
        <IconButton
          label={`Open port ${port.port} in the browser`}
          icon={ExternalLink}
          size="small"
          onClick={() => void actions.open(port)}
        />
        <Menu items={createPortMenu(port, actions)} align="end">
          <IconButton label={`Actions for port ${port.port}`} icon={Ellipsis} size="small" />
        </Menu>
      </div>
      {previewed && (
        <PortPreview
          sandboxId={sandboxId}
          port={port}
          listening={listening}
          actions={actions}
          onClose={() => setPreviewed(false)}
        />
      )}
    </li>
  )
}

function describeState(listening: boolean | undefined, sandboxRuns: boolean): string {
  if (!sandboxRuns) return 'stopped'
  if (listening === undefined) return 'looking…'
  return listening ? 'listening' : 'nothing listening'
}

function createPortMenu(port: ExposedPort, actions: PortActions): MenuItem[] {
  const isPrivate = port.visibility === 'private'
  return [
    {
      label: 'Copy address',
      icon: Copy,
      onSelect: () => void copyText(port.url).then((copied) => copied && notify.done('Address copied')),
    },
    ...(isPrivate
      ? [{ label: 'Copy a share token', icon: KeyRound, onSelect: () => void copyToken(port, actions) }]
      : []),
    {
      label: isPrivate ? 'Make public' : 'Make private',
      icon: isPrivate ? Globe : Lock,
      onSelect: () => void actions.change(port, isPrivate ? 'public' : 'private'),
    },
    'separator',
    { label: 'Remove', icon: Unplug, tone: 'danger', onSelect: () => void actions.remove(port) },
  ]
}

async function copyToken(port: ExposedPort, actions: PortActions): Promise<void> {
  const token = await actions.token(port)
  if (!token || !(await copyText(token.token))) return
  notify.done(`Token for port ${port.port} copied`, {
    hint: `It works for this port until ${new Date(token.expires_at).toLocaleString()}. Send it as a bearer token.`,
  })
}
