import { createPortal } from 'react-dom'
import type { Sandbox } from '#shared/contract/sandboxes.ts'
import type { TerminalMatch } from '#shared/contract/terminalSearch.ts'
import type { Terminal } from '#shared/contract/terminals.ts'
import { findTab, withReplaced } from '../layout/tabLayout.ts'
import type { TerminalSession } from '../view/terminalSession.ts'
import { TerminalPanel, type TerminalPanelProps } from './TerminalPanel.tsx'
import type { TerminalTabsState } from './useTerminalTabs.ts'

type MountedTerminalsProps = Pick<TerminalPanelProps, 'webgl' | 'inside' | 'wantsFocus' | 'onFocused' | 'onRoom'> & {
  tabs: TerminalTabsState
  sandbox: Sandbox
  terminals: readonly Terminal[]
  reveal: TerminalMatch | undefined
}

/** Terminals of mounted tabs, each in an element that is moved between panes. */
export function MountedTerminals({ terminals, ...props }: MountedTerminalsProps) {
  const { layout, mountedTabIds, hosts } = props.tabs
  const endedTogether = terminals.filter((terminal) => terminal.state === 'exited' && terminal.ended_with_sandbox)
  return terminals
    .filter(({ session_id }) => mountedTabIds.includes(findTab(layout, session_id)?.id ?? ''))
    .map((terminal) => {
      const id = terminal.session_id
      return createPortal(
        <MountedTerminal terminal={terminal} endedTogether={endedTogether} {...props} />,
        hosts.of(id),
        id,
      )
    })
}

type MountedTerminalProps = Omit<MountedTerminalsProps, 'terminals'> & {
  terminal: Terminal
  /** Terminals that ended together with the sandbox. */
  endedTogether: readonly Terminal[]
}

function MountedTerminal({ tabs, sandbox, terminal, endedTogether, reveal, ...panel }: MountedTerminalProps) {
  const { present, visibleIds, running, actions, current, broadcast, sessions } = tabs
  const id = terminal.session_id
  return (
    <div
      className="size-full"
      onFocusCapture={() => {
        if (present !== terminal && visibleIds.includes(id)) tabs.select(terminal)
      }}
    >
      <TerminalPanel
        {...panel}
        wantsFocus={panel.wantsFocus && terminal === present}
        terminal={terminal}
        label={`${tabs.getLabel(id)} in ${sandbox.name}`}
        visible={visibleIds.includes(id)}
        onTitle={(title) => actions.retitle(terminal, title)}
        onHiddenOutput={() => tabs.marks.add(id)}
        onAgain={
          running
            ? () => actions.again(terminal, (before, added) => withReplaced(current(before), id, added))
            : undefined
        }
        onAllAgain={
          running && terminal.ended_with_sandbox && endedTogether.length > 1
            ? () => actions.allAgain(endedTogether, (before, old, added) => withReplaced(current(before), old, added))
            : undefined
        }
        sandboxRuns={running}
        onClose={() => tabs.close([id])}
        reveal={reveal?.session_id === id ? reveal : undefined}
        onSession={(session: TerminalSession | undefined) => {
          if (session) sessions.current.set(id, session)
          else sessions.current.delete(id)
          broadcast.learn(id, session)
        }}
        onTyped={(text) => broadcast.typed(id, text)}
      />
    </div>
  )
}
