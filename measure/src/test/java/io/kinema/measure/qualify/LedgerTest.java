package io.kinema.measure.qualify;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.kinema.engine.BadRequestException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class LedgerTest {
    @TempDir
    private Path folder;

    private Ledger ledger() {
        return Ledger.at(folder.resolve("data").resolve("ledger.jsonl"));
    }

    private static ObjectNode content(String text) {
        return JsonNodeFactory.instance.objectNode().put("text", text).put("number", 0.1).put("large", 1L << 40);
    }

    /** Appends as many entries as its second argument says to the file that the first names. */
    public static final class Writer {
        private Writer() {
        }

        public static void main(String[] arguments) {
            for (int i = 0; i < Integer.parseInt(arguments[1]); i++) {
                Ledger.at(Path.of(arguments[0])).append(content(arguments[2] + i));
            }
        }
    }

    @Test
    void anAbsentLedgerIsEmptyAndEntriesComeBackInOrder() {
        assertThat(ledger().read().entries()).isEmpty();
        ledger().append(content("a"));
        ObjectNode second = ledger().append(content("b"));
        Ledger.Contents contents = ledger().read();
        assertThat(contents.problems()).isEmpty();
        assertThat(contents.entries()).extracting(e -> e.path("text").asText()).containsExactly("a", "b");
        assertThat(contents.entries().get(1).path("sha256").asText()).isEqualTo(second.path("sha256").asText()).hasSize(64);
        assertThat(contents.entries().get(1).path("previous")).isEqualTo(contents.entries().get(0).path("sha256"));
    }

    @Test
    void anEditedEntryIsNotReadAndIsReported() throws IOException {
        ledger().append(content("slow"));
        ledger().append(content("other"));
        Path file = ledger().file();
        Files.writeString(file, Files.readString(file).replace("slow", "fast"));
        Ledger.Contents contents = ledger().read();
        assertThat(contents.entries()).extracting(e -> e.path("text").asText()).containsExactly("other");
        assertThat(contents.problems()).containsExactly("line 1 was changed after it was written");
    }

    @Test
    void anEntryTakenOutLeavesAGap() throws IOException {
        for (String text : List.of("a", "b", "c")) {
            ledger().append(content(text));
        }
        List<String> lines = new ArrayList<>(Files.readAllLines(ledger().file()));
        lines.remove(1);
        Files.write(ledger().file(), lines);
        assertThat(ledger().read().problems()).containsExactly("before line 2 an entry was taken out or put in");
        ledger().append(content("d"));
        assertThat(ledger().read().entries()).extracting(e -> e.path("text").asText()).containsExactly("a", "c", "d");
    }

    @Test
    void whatIsNoTextOrFollowsAnEntrySpoilsItsLineOnly() throws IOException {
        for (String text : List.of("a", "b", "c")) {
            ledger().append(content(text));
        }
        Path file = ledger().file();
        List<String> lines = Files.readAllLines(file);
        byte[] bytes = (lines.get(0) + "{}\n" + lines.get(1) + "\n" + lines.get(2) + "\n").getBytes(StandardCharsets.UTF_8);
        bytes[bytes.length - 3] = (byte) 0xFF;
        Files.write(file, bytes);
        Ledger.Contents contents = ledger().read();
        assertThat(contents.entries()).extracting(e -> e.path("text").asText()).containsExactly("b");
        assertThat(contents.problems()).hasSize(3).first().asString().startsWith("line 1 is no entry");
        ledger().append(content("d"));
        assertThat(ledger().read().entries()).extracting(e -> e.path("text").asText()).containsExactly("b", "d");
    }

    /** A process that dies while it writes leaves a piece of a line. */
    @Test
    void aPieceOfALineCostsNoOtherEntry() throws IOException {
        ledger().append(content("a"));
        Files.writeString(ledger().file(), "{\"text\": \"hal", StandardOpenOption.APPEND);
        ledger().append(content("b"));
        Ledger.Contents contents = ledger().read();
        assertThat(contents.entries()).extracting(e -> e.path("text").asText()).containsExactly("a", "b");
        assertThat(contents.problems()).containsExactly("line 2 is no entry; it was cut or written by something else");
    }

    @Test
    void processesAndThreadsAppendAtOnce() throws IOException, InterruptedException {
        int each = 25;
        Process other = new ProcessBuilder(Path.of(System.getProperty("java.home"), "bin", "java").toString(), "-Xmx64m", "-cp", System.getProperty("java.class.path"),
                Writer.class.getName(), ledger().file().toString(), "" + each, "process").inheritIO().start();
        List<Thread> threads = new ArrayList<>();
        for (String name : List.of("one", "two")) {
            threads.add(Thread.ofPlatform().start(() -> Writer.main(new String[] {ledger().file().toString(), "" + each, name})));
        }
        for (Thread thread : threads) {
            thread.join();
        }
        assertThat(other.waitFor()).isZero();
        Ledger.Contents contents = ledger().read();
        assertThat(contents.problems()).isEmpty();
        assertThat(contents.entries()).extracting(e -> e.path("text").asText()).hasSize(3 * each).doesNotHaveDuplicates();
    }

    @Test
    void aLedgerThatCannotBeWrittenIsRefusedBeforehand() throws IOException {
        Files.writeString(folder.resolve("data"), "a file where the folder should be");
        assertThatExceptionOfType(BadRequestException.class).isThrownBy(() -> ledger().requireWritable()).withMessageContaining("ledger.jsonl");
        assertThatExceptionOfType(BadRequestException.class).isThrownBy(() -> ledger().append(content("a")));
    }
}
