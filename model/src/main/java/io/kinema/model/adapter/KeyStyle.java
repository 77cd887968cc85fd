package io.kinema.model.adapter;

import java.util.List;

/** Describes for people how a file names its tensors. */
final class KeyStyle {
    private KeyStyle() {
    }

    static String describe(List<AdapterKey> keys) {
        AdapterKey first = keys.stream().filter(k -> k.kind() == AdapterKey.Kind.DOWN).findFirst().orElse(keys.getFirst());
        String prefix = first.name().substring(0, first.name().indexOf(first.module()));
        boolean flat = prefix.endsWith("lora_unet_");
        boolean original = keys.stream().anyMatch(k -> ModuleNames.original(k.module()));
        String factors = first.name().substring(first.name().indexOf(first.module()) + first.module().length());
        return (flat ? "flattened " : "") + (original ? "original" : "diffusers") + " module names, "
                + (prefix.isEmpty() ? "no prefix" : "prefix " + prefix) + ", " + factors.substring(1);
    }
}
