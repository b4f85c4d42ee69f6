import { useCallback, useState } from 'react'
import { useLiveEvent } from '#renderer/api/liveEvents.ts'
import { buildTerminalStreamUrl } from '#renderer/api/streamUrl.ts'
import { openWindowSocket } from '#renderer/api/windowKey.ts'
import type { SandboxId, TerminalId } from '#shared/ids.ts'
import type { StreamConnector } from '../stream/terminalStream.ts'

/** Returns the connector of this window to a terminal, through the agent. */
export function useTerminalConnector(sandboxId: SandboxId, terminalId: TerminalId): StreamConnector {
  return useCallback(
    ({ scrollback }) => openWindowSocket(buildTerminalStreamUrl({ sandboxId, terminalId, scrollback })),
    [sandboxId, terminalId],
  )
}

/** Counts how often the service was found again. */
export function useConnectionEpoch(): number {
  const [epoch, setEpoch] = useState(0)
  useLiveEvent((event) => {
    const connected = event.type === 'connection.changed' && event.connection.state === 'connected'
    if (connected || event.type === 'ready') setEpoch((before) => before + 1)
  })
  return epoch
}
