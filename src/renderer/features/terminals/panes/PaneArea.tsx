import { type ReactNode, useEffect } from 'react'
import { Group, Panel, Separator, useGroupRef } from 'react-resizable-panels'
import { Layer, useInView } from '#renderer/ui/Layer.tsx'
import { listPaneIds, type PaneTree, type Split } from '../layout/paneTree.ts'

type PaneAreaProps = {
  tree: PaneTree
  /** Pane that covers all others. */
  zoomedId: string | undefined
  /** `place` is the path to the split whose divider was moved. */
  onShares: (place: readonly number[], shares: readonly number[]) => void
  children: (terminalId: string) => ReactNode
}

export function PaneArea({ tree, zoomedId, onShares, children }: PaneAreaProps) {
  return (
    <div className="relative size-full">
      <Layer visible={zoomedId === undefined}>
        <TreeArea tree={tree} place={[]} onShares={onShares}>
          {(id) => id !== zoomedId && children(id)}
        </TreeArea>
      </Layer>
      {zoomedId !== undefined && <div className="absolute inset-0">{children(zoomedId)}</div>}
    </div>
  )
}

type TreeAreaProps<Tree> = Pick<PaneAreaProps, 'onShares'> & {
  tree: Tree
  place: readonly number[]
  children: (terminalId: string) => ReactNode
}

function TreeArea({ tree, ...rest }: TreeAreaProps<PaneTree>) {
  if (tree.kind === 'pane') return rest.children(tree.id)
  // Remounts the group if its parts change, because earlier sizes must not be applied to different parts.
  return <SplitArea key={listPartIds(tree).join()} tree={tree} {...rest} />
}

function SplitArea({ tree, place, onShares, children }: TreeAreaProps<Split>) {
  const group = useGroupRef()
  const inView = useInView()
  const ids = listPartIds(tree)
  const layout = Object.fromEntries(ids.map((id, index) => [id, (tree.parts[index]?.share ?? 0) * 100]))
  const written = JSON.stringify(layout)

  useEffect(() => {
    const shares: Record<string, number> = JSON.parse(written)
    const now = group.current?.getLayout() ?? shares
    if (Object.entries(shares).some(([id, size]) => Math.abs((now[id] ?? 0) - size) > 0.1))
      group.current?.setLayout(shares)
  }, [group, written])

  return (
    <Group
      groupRef={group}
      disabled={!inView} // otherwise an invisible divider would capture the pointer
      orientation={tree.direction === 'row' ? 'horizontal' : 'vertical'}
      defaultLayout={layout}
      className="size-full"
      onLayoutChanged={(sizes, { isUserInteraction }) => {
        if (isUserInteraction)
          onShares(
            place,
            ids.map((id) => (sizes[id] ?? 0) / 100),
          )
      }}
    >
      {tree.parts.flatMap((part, index) => {
        const id = ids[index] ?? ''
        return [
          index > 0 && <Divider key={`before ${id}`} direction={tree.direction} />,
          <Panel key={id} id={id} minSize={48}>
            <TreeArea tree={part.tree} place={[...place, index]} onShares={onShares}>
              {children}
            </TreeArea>
          </Panel>,
        ]
      })}
    </Group>
  )
}

function Divider({ direction }: { direction: Split['direction'] }) {
  return (
    <Separator
      aria-label={direction === 'row' ? 'Terminal width' : 'Terminal height'}
      className={
        direction === 'row'
          ? 'relative w-px bg-line outline-none after:absolute after:inset-y-0 after:-left-1 after:z-10 after:w-2 data-[separator=active]:bg-accent data-[separator=focus]:bg-accent data-[separator=hover]:bg-edge'
          : 'relative h-px bg-line outline-none after:absolute after:inset-x-0 after:-top-1 after:z-10 after:h-2 data-[separator=active]:bg-accent data-[separator=focus]:bg-accent data-[separator=hover]:bg-edge'
      }
    />
  )
}

/** Identifies a part by its first terminal. */
function listPartIds({ parts }: Split): string[] {
  return parts.map(({ tree }) => listPaneIds(tree)[0] ?? '')
}
