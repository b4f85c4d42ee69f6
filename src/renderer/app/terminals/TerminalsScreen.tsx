import { useEffect, useState } from 'react'
import type { Sandbox } from '#shared/contract/sandboxes.ts'
import { NoSandboxes } from '../../features/sandboxes/list/NoSandboxes.tsx'
import { SandboxPanel } from '../../features/sandboxes/list/SandboxPanel.tsx'
import { createSandboxMenu } from '../../features/sandboxes/list/SandboxRow.tsx'
import { SandboxListActionsContext, useSandboxListActions } from '../../features/sandboxes/sandboxListActions.ts'
import { loadTerminalTabs } from '../../features/terminals/sessions/loadTerminalTabs.ts'
import { useRecent } from '../../features/terminals/sessions/useRecent.ts'
import { Workbench, type WorkbenchProps } from '../../features/terminals/sessions/Workbench.tsx'
import { createWebglLeases } from '../../features/terminals/view/webglLeases.ts'
import { useCommands } from '../../ui/commands/commandRegistry.tsx'
import { Layer } from '../../ui/Layer.tsx'
import { ListButton } from '../../ui/panels/ListButton.tsx'
import { listId, listWidth } from '../../ui/panels/panelWidths.ts'
import { ResizablePanels } from '../../ui/panels/ResizablePanels.tsx'
import { usePanelRoom } from '../../ui/panels/usePanelRoom.ts'
import { createWorkbenchActions } from './createWorkbenchActions.ts'
import { ScreenDialogs } from './ScreenDialogs.tsx'
import { createSandboxListActions } from './sandboxListActions.ts'
import { createScreenCommands } from './screenCommands.ts'
import { ListeningPorts } from './side/ListeningPorts.tsx'
import { SideButton } from './side/SideButton.tsx'
import { SideView } from './side/SideView.tsx'
import { createSideCommands } from './side/sideCommands.ts'
import { type Side, useSide } from './side/useSide.ts'
import type { FileRequest, PathRequest } from './sidePanels.ts'
import { useAddressTarget } from './useSandboxAddress.ts'
import { useSandboxLinks } from './useSandboxLinks.ts'
import { type TerminalsScreenState, useTerminalsScreen } from './useTerminalsScreen.ts'

/** Browsers allow about 16 WebGL contexts per page. The remaining ones are reserved for other sections. */
const webglContexts = 8
/** Maximum number of sandboxes whose terminals stay mounted. */
const maxMounted = 3
const sideWidth = { initial: 380, min: 280, max: 900 }

export function TerminalsScreen() {
  const screen = useTerminalsScreen()
  const { sandboxes, selection, dialogs, focus, lifecycle } = screen
  const { present } = selection
  const actions = createSandboxListActions(screen)
  const openCreateDialog = () => dialogs.open({ kind: 'create' })
  const [webgl] = useState(() => createWebglLeases(webglContexts))
  const recentIds = useRecent(present?.id, maxMounted)
  const mounted = sandboxes?.filter(({ id }) => recentIds.includes(id)) ?? []
  const room = usePanelRoom()
  const side = useSide(room.endFloats)
  const [listOpen, setListOpen] = useState(false)
  const [requestedFile, setRequestedFile] = useState<FileRequest>()
  const showFile = ({ id }: Sandbox, request: PathRequest) => {
    side.show('files')
    setRequestedFile({ sandboxId: id, ...request })
  }
  const linksOf = useSandboxLinks({
    show: showFile,
    askToExpose: (sandbox, request) => dialogs.open({ kind: 'expose', sandbox, request }),
  })
  useAddressTarget({
    sandboxes,
    openFile: (sandbox, path) => showFile(sandbox, { path }),
    openTerminal: selection.showTerminal,
  })
  const leaveList = () => {
    setListOpen(false)
    focus.request()
  }
  // Preloads the tabs with the first terminal. Errors are ignored here, because rendering the tabs fails again and
  // reports them.
  useEffect(() => void loadTerminalTabs().catch(() => {}), [])
  useCommands([
    ...createScreenCommands({
      screen,
      actions,
      focusTerminal: leaveList,
      openList: room.listFolds ? () => setListOpen(true) : leaveList,
    }),
    ...(present ? createSideCommands(side) : []),
  ])

  return (
    <SandboxListActionsContext value={actions}>
      <ResizablePanels
        room={room}
        start={{
          id: listId,
          label: 'Sandboxes',
          width: listWidth,
          open: listOpen,
          onOpenChange: setListOpen,
          content: (
            <SandboxPanel
              selectedId={present?.id}
              actions={actions}
              onSelect={(sandbox) => {
                setListOpen(false)
                selection.open(sandbox)
              }}
              onNew={openCreateDialog}
            />
          ),
        }}
        middle={
          <section aria-label="Terminals" className="relative size-full bg-canvas">
            {sandboxes?.length === 0 && <NoSandboxes onNew={openCreateDialog} />}
            {mounted.map((sandbox) => (
              <ScreenWorkbench
                key={sandbox.id}
                sandbox={sandbox}
                screen={screen}
                side={side}
                webgl={webgl}
                inside={linksOf(sandbox)}
                listButton={
                  room.listFolds && <ListButton label="Sandboxes" open={listOpen} onOpenChange={setListOpen} />
                }
              />
            ))}
          </section>
        }
        end={
          present &&
          side.tab && {
            id: 'terminals.end',
            label: 'Details',
            width: sideWidth,
            open: side.open,
            onOpenChange: side.setOpen,
            content: (
              <SideView
                sandboxes={mounted}
                present={present}
                side={side}
                request={requestedFile}
                show={lifecycle.showCreated}
              />
            ),
          }
        }
      />
      <ScreenDialogs screen={screen} />
    </SandboxListActionsContext>
  )
}

type ScreenWorkbenchProps = Pick<WorkbenchProps, 'sandbox' | 'webgl' | 'inside' | 'listButton'> & {
  screen: TerminalsScreenState
  side: Side
}

/** Terminals of one sandbox, hidden while another sandbox is shown. */
function ScreenWorkbench({ screen, side, ...props }: ScreenWorkbenchProps) {
  const { sandbox } = props
  const { selection, layouts, terminals, focus } = screen
  const visible = sandbox === selection.present
  const actions = useSandboxListActions()
  return (
    <Layer visible={visible}>
      <Workbench
        {...props}
        visible={visible}
        selectedId={selection.value.terminals[sandbox.id]}
        closedIds={selection.value.closed[sandbox.id] ?? []}
        layout={layouts.layoutOf(sandbox.id)}
        creating={terminals.creating}
        wantsFocus={focus.isRequested}
        onFocused={focus.onFocused}
        onRoom={terminals.learnRoom}
        actions={createWorkbenchActions(screen, sandbox)}
        sandboxMenu={createSandboxMenu(sandbox, actions)}
        reveal={selection.reveal}
        sideButton={
          <>
            <ListeningPorts sandbox={sandbox} visible={visible && !side.open} />
            <SideButton side={side} />
          </>
        }
      />
    </Layer>
  )
}
