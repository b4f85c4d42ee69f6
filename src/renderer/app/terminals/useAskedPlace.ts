import { useEffect, useEffectEvent } from 'react'
import type { Sandbox } from '../../../shared/contract/sandboxes.ts'
import { addressOf, usePlace } from '../../ui/place.ts'

type Asked = {
  sandboxes: readonly Sandbox[] | undefined
  open(sandbox: Sandbox): void
  openFile(sandbox: Sandbox, path: string): void
  openTerminal(sandbox: Sandbox, id: string): void
}

/** An address may ask for a sandbox, or for a file in it: `#/terminals/ID/files/PATH`, or for a terminal, `#/terminals/ID/terminal/ID`. It is done once, and the address left. */
export function useAskedPlace({ sandboxes, open, openFile, openTerminal }: Asked): void {
  const [section, wanted, part, path] = usePlace()
  // On the way to another section its address is heard here too.
  const id = section === 'terminals' ? wanted : undefined
  const follow = useEffectEvent(() => {
    const sandbox = sandboxes?.find((it) => it.id === id)
    if (sandbox) {
      open(sandbox)
      if (part === 'terminal' && path !== undefined) openTerminal(sandbox, path)
      if (part === 'files' && path !== undefined) openFile(sandbox, path)
    }
    window.location.replace(addressOf('terminals'))
  })
  const isKnown = sandboxes !== undefined
  useEffect(() => {
    if (id !== undefined && isKnown) follow()
  }, [id, isKnown])
}
